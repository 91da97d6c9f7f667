"""The settings that the API, the workers, the migrations and the launcher share.

Every setting is an environment variable whose name begins with ``ABBOT_``; ``.env.example`` lists
them with their meaning. ``./abbot`` reads ``.env`` in the checkout before it starts anything, so
this module looks at the environment alone.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

from environs import Env, EnvValidationError
from marshmallow import ValidationError, validate

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
    """The same database as the role that owns it: for migrations, backups and what else takes all
    of its tables. `database_url` where no owner is given."""
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
    streams_per_address: int
    """The most of them for one address without a token."""
    requests_per_token: int
    """Requests of one token in a minute; 0 for as many as it likes."""
    requests_per_app: int
    """The same for an app's key."""
    requests_per_address: int
    """The same for one address."""
    registrations_per_address: int
    """Players that may register from one address in an hour; 0 for as many as they like."""
    limits_url: str = field(repr=False)
    """Where requests are counted for all processes together (``redis://``); empty: in each."""
    trusted_proxies: str
    """Addresses and networks whose ``X-Forwarded-For`` is believed, with commas."""
    connections_per_address: int
    """The most connections of one address to one process."""
    lobbies_per_player: int
    """The most tables in the lobby with one player as host."""
    games_per_player: int
    """The most tables and running games in which one player has a seat."""
    database_pool: int
    """The most connections one process keeps to the database."""
    prepare_threshold: int | None
    """Executions before psycopg prepares a statement; ``None`` for never (poolers that cannot
    keep prepared statements)."""
    lobby_hours: float
    """Hours after which a table at which nothing happens before its start is closed."""
    webhooks_anywhere: bool
    """Webhooks may go to ``http`` and to addresses that are not public: for development alone."""
    webhook_places: int
    """Webhooks that one worker node calls at a time; 0 for a node that calls none."""
    log_level: str
    """``debug``, ``info``, ``warning`` or ``error``."""

    @classmethod
    def from_env(cls, *, database_required: bool = True) -> Settings:
        """Read the settings from the process's environment.

        Raises SettingsError, naming each setting that is wrong. The launcher passes
        ``database_required=False``, as it can start a database of its own.
        """
        env = Env(eager=False)
        database_url = (env.str("ABBOT_DATABASE_URL", "", validate=_database_url) or "").strip()
        owner_url = env.str("ABBOT_OWNER_DATABASE_URL", "", validate=_database_url) or ""
        threshold = env.int("ABBOT_PREPARE_THRESHOLD", 5, validate=validate.Range(-1, 1_000_000))
        count = validate.Range(1, 256)
        many = validate.Range(1, 100_000)
        rate = validate.Range(0, 1_000_000_000)
        settings = cls(
            database_url=database_url,
            owner_database_url=owner_url.strip() or database_url,
            broker_url=env.str("ABBOT_BROKER_URL", "").strip(),
            data_dir=data_dir(),
            signing_keys=signing_keys(),
            host=env.str("ABBOT_HOST", "127.0.0.1").strip() or "127.0.0.1",
            port=env.int("ABBOT_PORT", 8000, validate=validate.Range(1, 65535)),
            api_workers=env.int("ABBOT_API_WORKERS", 2, validate=count),
            worker_concurrency=env.int("ABBOT_WORKER_CONCURRENCY", 2, validate=count),
            streams=env.int("ABBOT_STREAMS", 5000, validate=many),
            streams_per_player=env.int("ABBOT_STREAMS_PER_PLAYER", 32, validate=many),
            streams_per_address=env.int("ABBOT_STREAMS_PER_ADDRESS", 64, validate=many),
            requests_per_token=env.int("ABBOT_REQUESTS_PER_TOKEN", 6000, validate=rate),
            requests_per_app=env.int("ABBOT_REQUESTS_PER_APP", 60_000, validate=rate),
            requests_per_address=env.int("ABBOT_REQUESTS_PER_ADDRESS", 12_000, validate=rate),
            registrations_per_address=env.int(
                "ABBOT_REGISTRATIONS_PER_ADDRESS", 200, validate=rate
            ),
            limits_url=(env.str("ABBOT_LIMITS_URL", "", validate=_limits_url) or "").strip(),
            trusted_proxies=(
                env.str("ABBOT_TRUSTED_PROXIES", "", validate=_networks) or ""
            ).strip(),
            connections_per_address=env.int("ABBOT_CONNECTIONS_PER_ADDRESS", 1024, validate=many),
            lobbies_per_player=env.int("ABBOT_LOBBIES_PER_PLAYER", 20, validate=many),
            games_per_player=env.int("ABBOT_GAMES_PER_PLAYER", 200, validate=many),
            database_pool=env.int("ABBOT_DATABASE_POOL", 10, validate=count),
            prepare_threshold=None if (threshold or 0) < 0 else threshold,
            lobby_hours=env.float(
                "ABBOT_LOBBY_HOURS", 24.0, validate=validate.Range(0.001, 24 * 366)
            ),
            webhooks_anywhere=env.str(
                "ABBOT_WEBHOOKS", "public", validate=validate.OneOf(("public", "anywhere"))
            )
            == "anywhere",
            webhook_places=env.int("ABBOT_WEBHOOK_PLACES", 32, validate=validate.Range(0, 256)),
            log_level=env.str("ABBOT_LOG_LEVEL", "info", validate=validate.OneOf(LOG_LEVELS)),
        )
        try:
            env.seal()
        except EnvValidationError as error:
            raise SettingsError(_sentence(error)) from None
        if owner_url.strip() and not database_url:
            raise SettingsError(
                "ABBOT_OWNER_DATABASE_URL is set and ABBOT_DATABASE_URL is not: they name one "
                "database, as its owner and as the application"
            )
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


def _networks(text: str) -> None:
    for part in text.split(","):
        try:
            if part.strip():
                ip_network(part.strip())
        except ValueError as error:
            raise ValidationError(f"{error}.") from None


_CONNINFO = re.compile(
    r"""(postgres(ql)?://([^][%\s]|\[[^][\s]*\]|%[0-9a-f]{2})*   # a URL: brackets and % make pairs
        |\w+\s*=.*                                             # or what else libpq understands
        |)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def _database_url(text: str) -> None:
    # Not by psycopg, which has to be imported after gevent has patched the standard library, and
    # these settings are read before. What libpq says of a URL shows it, with its password.
    if _CONNINFO.fullmatch(text.strip()) is None:
        raise ValidationError("Must be a postgresql:// URL.")


def _limits_url(text: str) -> None:
    if text.strip() and not text.strip().startswith(("redis://", "rediss://", "redis+sentinel://")):
        raise ValidationError("Must be a redis:// or rediss:// URL.")


def _sentence(error: EnvValidationError) -> str:
    messages = error.error_messages
    if not isinstance(messages, dict):
        return str(error)
    return "; ".join(
        f"{name}: {' '.join(str(text) for text in texts)}" for name, texts in messages.items()
    )
