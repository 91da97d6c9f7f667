"""The rules of both games and of the table: pure, no I/O, no clock, no randomness of its own."""
