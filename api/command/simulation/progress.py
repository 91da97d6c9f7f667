"""A progress bar on a terminal; nothing where the output is not one."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

_WIDTH = 30
_EVERY = 0.1
"""Seconds between two drawings."""


class Progress:
    """Counts up to `total`; drawn on `stream` (standard error) while the block runs."""

    def __init__(self, total: int, unit: str, stream: TextIO | None = None) -> None:
        self._total = max(total, 1)
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._done = 0
        self._began = time.monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Self:
        self._draw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def advance(self, count: int = 1) -> None:
        """`count` more are done."""
        self._done += count
        if time.monotonic() - self._drawn >= _EVERY:
            self._draw()

    def _draw(self) -> None:
        if not self._shown:
            return
        self._drawn = time.monotonic()
        share = min(self._done / self._total, 1.0)
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        line = f"[{bar}] {share:4.0%}  {self._done:,} of {self._total:,} {self._unit}"
        if self._done:
            left = (self._drawn - self._began) * (1 - share) / share
            line += f", {left / 60:.0f} min left" if left > 90 else f", {left:.0f} s left"
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
