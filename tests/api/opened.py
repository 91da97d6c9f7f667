"""The application's services on a scratch database, on the clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api import services
from api.live import Bounds
from eventstore.destinations import Destinations
from eventstore.store import Store
from tests.databases import Scratch, shared_pool


@contextmanager
def services_on(scratch: Scratch, keys: Path) -> Iterator[services.Services]:
    """Everything that the views work with."""
    with shared_pool(scratch.clocked_url) as pool:
        # In one thread there is nobody who could end a long wait or stream.
        bounds = Bounds(wait_seconds=0.1, stream_seconds=0.1)
        destinations = Destinations(resolve=names)
        yield services.over(Store(pool), keys, bounds=bounds, destinations=destinations)


def names(host: str, port: int) -> list[str]:
    """What names mean in the tests, in which nothing is looked up."""
    if host.endswith("private.example.com"):
        return ["93.184.215.14", "10.0.0.8"]
    if host.endswith(".example.com"):
        return ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
    raise OSError("no such name")
