"""The settings that the API, the workers, the migrations and the launcher share.

Every setting is an environment variable whose name begins with ``ABBOT_``; ``.env.example`` lists
them with their meaning. ``./abbot`` reads ``.env`` in the checkout before it starts anything, so
this module looks at the environment alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from environs import Env, EnvValidationError
from marshmallow import validate

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: relative paths in settings start here, whatever the working directory is."""

LOG_LEVELS = ("debug", "info", "warning", "error")


class SettingsError(ValueError):
    """A setting is missing or has a value that cannot be used; the text names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What one process needs to know about the world. URLs are kept out of ``repr``: they hold
    passwords."""

    database_url: str = field(repr=False)
    """PostgreSQL (15 or later) as the application role; empty only while the launcher has not
    started its own server yet."""
    owner_database_url: str = field(repr=False)
    """The same database as the role that owns it; only migrations use it. `database_url` where
    no owner is given."""
    broker_url: str = field(repr=False)
    """Celery's broker (``redis://`` or ``amqp://``). Empty where there is none: the API never
    needs one."""
    data_dir: Path
    """Where everything that this checkout writes is kept."""
    signing_keys: Path
    """The folder of the keys that sign receipts and exports."""
    host: str
    """The address the API listens on."""
    port: int
    """The TCP port the API listens on."""
    api_workers: int
    """Processes that answer HTTP."""
    worker_concurrency: int
    """Celery tasks that one worker node runs at a time."""
    streams: int
    """The most streams and waits that one process holds open."""
    streams_per_player: int
    """The most of them for one player."""
    database_pool: int
    """The most connections one process keeps to the database."""
    prepare_threshold: int | None
    """Executions before psycopg prepares a statement; ``None`` for never (poolers that cannot
    keep prepared statements)."""
    lobby_hours: float
    """Hours after which a table at which nothing happens before its start is closed."""
    log_level: str
    """``debug``, ``info``, ``warning`` or ``error``."""

    @classmethod
    def from_env(cls, *, database_required: bool = True) -> Settings:
        """Read the settings from the process's environment.

        Raises SettingsError, naming each setting that is wrong. The launcher passes
        ``database_required=False``, as it can start a database of its own.
        """
        env = Env(eager=False)
        database_url = env.str("ABBOT_DATABASE_URL", "").strip()
        threshold = env.int("ABBOT_PREPARE_THRESHOLD", 5, validate=validate.Range(-1, 1_000_000))
        count = validate.Range(1, 256)
        settings = cls(
            database_url=database_url,
            owner_database_url=env.str("ABBOT_OWNER_DATABASE_URL", "").strip() or database_url,
            broker_url=env.str("ABBOT_BROKER_URL", "").strip(),
            data_dir=data_dir(),
            signing_keys=signing_keys(),
            host=env.str("ABBOT_HOST", "127.0.0.1").strip() or "127.0.0.1",
            port=env.int("ABBOT_PORT", 8000, validate=validate.Range(1, 65535)),
            api_workers=env.int("ABBOT_API_WORKERS", 2, validate=count),
            worker_concurrency=env.int("ABBOT_WORKER_CONCURRENCY", 2, validate=count),
            streams=env.int("ABBOT_STREAMS", 5000, validate=validate.Range(1, 100_000)),
            streams_per_player=env.int(
                "ABBOT_STREAMS_PER_PLAYER", 32, validate=validate.Range(1, 100_000)
            ),
            database_pool=env.int("ABBOT_DATABASE_POOL", 10, validate=count),
            prepare_threshold=None if (threshold or 0) < 0 else threshold,
            lobby_hours=env.float(
                "ABBOT_LOBBY_HOURS", 24.0, validate=validate.Range(0.001, 24 * 366)
            ),
            log_level=env.str("ABBOT_LOG_LEVEL", "info", validate=validate.OneOf(LOG_LEVELS)),
        )
        try:
            env.seal()
        except EnvValidationError as error:
            raise SettingsError(_sentence(error)) from None
        if database_required and not database_url:
            raise SettingsError(
                "ABBOT_DATABASE_URL is not set (`./abbot up` sets it for what it starts)"
            )
        return settings


def data_dir() -> Path:
    """The folder that ``ABBOT_DATA`` names, ``.abbot`` in the checkout if it names none."""
    given = Path(os.environ.get("ABBOT_DATA", "").strip() or ".abbot").expanduser()
    return Path(os.path.normpath(ROOT / given))


def signing_keys() -> Path:
    """The folder that ``ABBOT_SIGNING_KEYS`` names; ``keys`` in the data folder if none."""
    given = os.environ.get("ABBOT_SIGNING_KEYS", "").strip()
    if not given:
        return data_dir() / "keys"
    return Path(os.path.normpath(ROOT / Path(given).expanduser()))


def _sentence(error: EnvValidationError) -> str:
    messages = error.error_messages
    if not isinstance(messages, dict):
        return str(error)
    return "; ".join(
        f"{name}: {' '.join(str(text) for text in texts)}" for name, texts in messages.items()
    )
