"""A progress bar on a terminal; nothing where the output is not one."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

_WIDTH = 30
_EVERY = 0.1
"""Seconds between two drawings."""
_LEARNS = 2.0
"""Seconds until it says how long the rest will take."""


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

    def reach(self, done: int, total: int) -> None:
        """So many are done, and there are `total` by now."""
        self._total = max(total, 1)
        self.advance(done - self._done)

    def _draw(self) -> None:
        if not self._shown:
            return
        self._drawn = time.monotonic()
        share = min(self._done / self._total, 1.0)
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        line = f"[{bar}] {share:4.0%}  {self._done:,} of {self._total:,} {self._unit}"
        gone = self._drawn - self._began
        if self._done and gone >= _LEARNS:
            line += f", {_duration(gone * (1 - share) / share)} left"
        # A line that wraps could not be drawn over.
        line = line[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()


def _duration(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds > 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
