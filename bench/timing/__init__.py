"""Parts of the measurement of timers: matches in which nobody moves, nodes, and what is killed."""
