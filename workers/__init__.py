"""Workers: turns whose time ran out and moves of computer players.

Deadlines are rows that a move writes in its own transaction. Each worker node runs a timer thread
(`timer.py`) that claims due rows and hands them in batches to the pool through the broker
(`publisher.py`, `tasks.py`), or settles them itself when the broker is away (`settling.py`). There
is no leader and no schedule; any number of nodes may run. A row that nobody settles is claimed
again once its lease has run out, so a node, child or broker that dies loses nothing.
"""
