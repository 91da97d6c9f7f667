"""How Python's collector of reference cycles works in a process that serves."""

from __future__ import annotations

import gc

YOUNG = 10_000
"""So many new objects, not 700, make it look: a request leaves few cycles, a refused one some 150
objects, and each look costs them all. It made some 4% more moves a second so."""


def seldom() -> None:
    """Have it look seldom, and never again at what is loaded by now, which stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 100)
