"""`abbot up`: start everything, keep it running, stop it all on Ctrl-C or SIGTERM.

The database and the broker are embedded ones unless ABBOT_DATABASE_URL and ABBOT_BROKER_URL name
others. The order is database, migrations, broker, worker and API; stopping goes the other way.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from api.command import processes, running, servers
from api.command.console import CommandFailed, complain, say
from api.command.ports import is_free
from api.command.supervisor import Service, Stopping, Supervisor
from eventstore.settings import ROOT, Settings

API_STOP: processes.Escalation = ((signal.SIGTERM, 12.0),)
WORKER_STOP: processes.Escalation = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0))
STOPS = {"api": API_STOP, "worker": WORKER_STOP, "migrate": ((signal.SIGTERM, 10.0),)}
PRIVATE = ("ABBOT_OWNER_DATABASE_URL", "ABBOT_BROKER_URL", "PYTHONPATH", "PYTHONHOME")
"""What no server inherits: secrets that only some need are given to those alone."""
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def main(argv: list[str]) -> int:
    """Run the command; return its exit code: 0 after a clean stop."""
    argparse.ArgumentParser(prog="./abbot up", description=__doc__).parse_args(argv)
    try:
        settings = servers.read_settings()
        lock = servers.lock(settings.data_dir)
        try:
            with Supervisor(settings.data_dir) as supervisor:
                try:
                    _run(supervisor, settings)
                except Stopping:
                    say("stopping")
                finally:
                    running.forget(settings.data_dir)
        finally:
            lock.release()
    except CommandFailed as error:
        complain(str(error))
        return 1
    say("stopped")
    return 0


def _run(supervisor: Supervisor, settings: Settings) -> None:
    data = settings.data_dir
    supervisor.reap_earlier_run(STOPS | servers.STOPS)
    _check_port(settings)
    settings = _start_database(supervisor, settings)
    _migrate(supervisor, settings)
    servers.warn_of_one_role(settings)
    settings = _start_broker(supervisor, settings)
    worker, api = _worker(supervisor, settings), _api(settings)
    supervisor.launch(worker)
    supervisor.launch(api)
    supervisor.watch(until=lambda: api.was_ready and worker.was_ready)
    running.write(
        data,
        {
            "ABBOT_DATABASE_URL": settings.database_url,
            "ABBOT_OWNER_DATABASE_URL": settings.owner_database_url,
            "ABBOT_BROKER_URL": settings.broker_url,
            "ABBOT_HOST": WILDCARDS.get(settings.host, settings.host),
            "ABBOT_PORT": str(settings.port),
        },
    )
    _welcome(settings)
    supervisor.watch()


def _check_port(settings: Settings) -> None:
    try:
        free = is_free(settings.host, settings.port)
    except OSError as error:
        raise CommandFailed(
            f"cannot listen on {settings.host}: {error.strerror or error}. ABBOT_HOST names the "
            "address (127.0.0.1 if it is not set)."
        ) from None
    if not free:
        why = (
            "may be used by root only"
            if settings.port < 1024 and os.geteuid() != 0
            else "is taken by another program"
        )
        others = (port for port in range(max(settings.port, 8000) + 1, 65536))
        other = next((port for port in others if is_free(settings.host, port)), 8000)
        raise CommandFailed(
            f"port {settings.port} on {settings.host} {why}. Choose another one with ABBOT_PORT, "
            f"for example: ABBOT_PORT={other} ./abbot up"
        )


def _start_database(supervisor: Supervisor, settings: Settings) -> Settings:
    if settings.database_url:
        say("using the database of ABBOT_DATABASE_URL")
        return settings
    clients = (settings.api_workers + settings.worker_concurrency + 2) * settings.database_pool
    postgres = servers.Servers(settings.data_dir, supervisor).start_postgres(
        connections=max(100, clients + 20)
    )
    say(f"postgres is ready (port {postgres.port})")
    return replace(
        settings, database_url=postgres.application_url, owner_database_url=postgres.owner_url
    )


def _start_broker(supervisor: Supervisor, settings: Settings) -> Settings:
    if settings.broker_url:
        say("using the broker of ABBOT_BROKER_URL")
        return settings
    valkey = servers.Servers(settings.data_dir, supervisor).start_valkey()
    say(f"valkey is ready (port {valkey.port})")
    return replace(settings, broker_url=valkey.url)


def _migrate(supervisor: Supervisor, settings: Settings) -> None:
    """In a process of its own: it alone gets the owner's rights, and a stop can interrupt it."""
    owner = {"ABBOT_OWNER_DATABASE_URL": settings.owner_database_url}
    service = Service(
        name="migrate",
        command=lambda: [
            sys.executable,
            "-P",
            str(ROOT / "api" / "command" / "__main__.py"),
            "migrate",
        ],
        environment=lambda: _environment(settings) | owner,
        ready=lambda _pid: False,
        stop=STOPS["migrate"],
        death_signal=signal.SIGTERM,
    )
    supervisor.run_once(service)
    say("the database's tables are up to date")


def _api(settings: Settings) -> Service:
    return Service(
        name="api",
        command=lambda: [
            sys.executable,
            "-P",
            "-m",
            "gunicorn",
            "-c",
            "python:api.command.gunicorn_config",
            "api.wsgi:app",
        ],
        environment=lambda: _environment(settings),
        ready=lambda _pid: _answers(settings),
        stop=API_STOP,
        hurry=signal.SIGQUIT,
        death_signal=signal.SIGTERM,
    )


def _worker(supervisor: Supervisor, settings: Settings) -> Service:
    broker = {"ABBOT_BROKER_URL": settings.broker_url}
    service = Service(
        name="worker",
        command=lambda: [
            sys.executable,
            "-P",
            "-m",
            "celery",
            "-q",
            "-A",
            "workers.app",
            "worker",
            "--concurrency",
            str(settings.worker_concurrency),
            "--loglevel",
            settings.log_level,
            "--without-gossip",
            "--without-mingle",
        ],
        environment=lambda: _environment(settings) | broker,
        ready=lambda _pid: _works(supervisor, service),
        stop=WORKER_STOP,
        hurry=signal.SIGQUIT,
        death_signal=signal.SIGTERM,
    )
    return service


def _works(supervisor: Supervisor, worker: Service) -> bool:
    """Whether the worker says that it is ready; at log levels at which it doesn't, whether it has
    lived for a while."""
    said = re.search(r"\bready\b", supervisor.log_text(worker)) is not None
    return said or time.monotonic() - worker.started > 10


def _environment(settings: Settings) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    return inherited | {
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        "ABBOT_DATA": str(settings.data_dir),
        "ABBOT_DATABASE_URL": settings.database_url,
    }


def _answers(settings: Settings) -> bool:
    """Whether the API answers its health check."""
    host = WILDCARDS.get(settings.host, settings.host)
    connection = http.client.HTTPConnection(host, settings.port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _welcome(settings: Settings) -> None:
    host = WILDCARDS.get(settings.host, settings.host)
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
    logs = _shortest(settings.data_dir / "logs")
    print(
        f"""
  Abbot answers at {url}; read its API, and try it, at {url}/docs.
  Make a player:

    curl -s -X POST {url}/v1/players -H 'Content-Type: application/json' -d '{{"name": "Ada"}}'

  Logs are in {logs}. Ctrl-C stops everything.
""",
        flush=True,
    )


def _shortest(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
