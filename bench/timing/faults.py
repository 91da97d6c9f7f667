"""Parts of a whole installation are killed and paused while turns are due."""

from __future__ import annotations

from bench.common.report import Figure


def measure() -> dict[str, Figure]:
    return {}
