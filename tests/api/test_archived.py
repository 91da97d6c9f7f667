"""A game whose month is detached from the record, over HTTP."""

from __future__ import annotations

import random
from pathlib import Path

import psycopg

from api.app import create_app
from eventstore.executor import Executor
from eventstore.partitions import Partitions
from eventstore.store import Store
from tests.api.client import Client
from tests.api.opened import services_on
from tests.databases import scratch_database, shared_pool
from tests.eventstore.months import OLD, OLD_NAME, catch_up, id_at, make_old, table_as


def test_nobody_asks_again_at_once(tmp_path: Path) -> None:
    with scratch_database() as scratch, services_on(scratch, tmp_path / "keys") as opened:
        client = Client(create_app(opened=opened))
        make_old(scratch.owner_url)
        with shared_pool(scratch.app_url) as pool:
            old = table_as(Executor(Store(pool)), id_at(OLD))
            old.play_out(random.Random(1))
            catch_up(pool)
        events = client.get(f"/v1/games/{old.game_id}/events").get_json()["items"]
        with psycopg.connect(scratch.owner_url, autocommit=True) as owner:
            Partitions(owner).detach(OLD_NAME)
            for path in ("", "/events", "/states/3", "/audit", "/disputes"):
                refused = client.get(f"/v1/games/{old.game_id}{path}", expect=503)
                assert refused.get_json()["code"] == "unavailable", path
                assert "is in the archive" in refused.get_json()["detail"], path
                assert refused.headers["Retry-After"] == "3600", path
            assert client.get("/v1/games", query="status=finished").get_json()["items"]
            Partitions(owner).attach(OLD_NAME)
        assert client.get(f"/v1/games/{old.game_id}/events").get_json()["items"] == events
