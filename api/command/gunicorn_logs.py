"""What gunicorn itself logs, in the form of all other logs."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger

from eventstore.logs import handler


class JsonLogger(Logger):
    """Writes gunicorn's own messages as JSON; requests are logged by the application."""

    def setup(self, cfg: Any) -> None:
        """Called by gunicorn."""
        super().setup(cfg)
        self.error_log.handlers[:] = [handler()]
        self.access_log.handlers[:] = []
