"""Processes that append to one server side by side: each a module with `prepare(threads)`.

`prepare` connects and returns, for each thread, what makes one move. The server's address comes in
the environment. Abbot's imports nothing of the library, which runs in an environment of its own.
"""
