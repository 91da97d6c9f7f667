"""What gunicorn serves: `gunicorn -k gevent api.wsgi:app`, without preloading.

Each gevent worker patches the standard library and only then imports this module, so psycopg,
which chooses how to wait when it is imported, waits without stopping the other requests.
"""

from __future__ import annotations

import sys

from eventstore.settings import Settings

from . import heartbeat, logs
from .app import create_app
from .services import open_services


def _check_patching() -> None:
    """A worker whose waiting stops all its requests would only show under load; say so now."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None or not monkey.is_module_patched("socket"):
        return
    from psycopg import waiting

    if waiting.wait is getattr(waiting, "wait_c", None):
        raise RuntimeError("psycopg was imported before gevent patched the standard library")


_settings = Settings.from_env()
logs.configure(_settings.log_level)
_check_patching()
app = create_app(_settings)
heartbeat.start(lambda: open_services(app).executor.service)
