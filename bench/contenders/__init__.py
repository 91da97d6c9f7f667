"""Engines that are measured side by side: each a module with `prepare(seats, games, rng)`.

`prepare` deals so many games, outside of the measurement, and returns what plays them all at
random and counts the moves that players made. They import nothing of each other and, but for
Abbot's own, nothing of Abbot, as they run in environments of their own.
"""
