"""The threads that a node has beside its pool."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class NodeThread(ABC):
    """A thread that works until it is told to stop. It ends with its process."""

    def __init__(self, name: str) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"abbot-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more. Returns at once."""
        self._stopping.set()

    def join(self, seconds: float) -> None:
        """Wait for the thread, which finishes what it is doing."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    @abstractmethod
    def _run(self) -> None:
        """What the thread does while `_stopping` is not set."""
