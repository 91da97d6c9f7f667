"""The one task: settle a batch of due turns."""

from __future__ import annotations

from celery import Task
from celery.signals import worker_process_init

from workers.app import app
from workers.settings import SETTLE_TASK
from workers.settling import DueTurn, settle


@app.task(bind=True, name=SETTLE_TASK)
def settle_batch(self: Task, batch: list[list[object]]) -> None:
    """Settle the turns `[game_id, kind, round, turn]` of the batch that still run."""
    settle(self.app.resources.executor(), [DueTurn(*row) for row in batch])  # type: ignore[arg-type]


@worker_process_init.connect
def open_early(**_: object) -> None:
    """Connect to the database before the first task comes."""
    app.resources.executor()
