"""Whether the service is well, and the figures that it tells of itself."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api import services
from api.app import create_app
from api.heartbeat import Heartbeat
from api.services import Services
from eventstore.health import ALIVE_SECONDS, HealthRows, code_head
from eventstore.pool import open_pool
from eventstore.store import Store
from migrations import run
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch, scratch_database
from tests.eventstore.proxies import losing_proxy
from tests.workers.servers import wait_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rows(scratch: Scratch, opened: Services) -> Iterator[HealthRows]:
    scratch.execute("DELETE FROM nodes")
    yield HealthRows(opened.store.pool)
    scratch.execute("DELETE FROM nodes")


@pytest.fixture
def revision(scratch: Scratch) -> Iterator[None]:
    yield
    scratch.execute("UPDATE alembic_version SET version_num = %s", (run.head(),))


def figures(client: Client) -> dict[str, float]:
    """All samples that `/metrics` gives, by name and labels as they are written."""
    answer = client.get("/metrics", expect=200)
    assert answer.mimetype == "text/plain"
    found = {}
    for family in text_string_to_metric_families(answer.get_data(as_text=True)):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def test_the_head_is_read_without_alembic() -> None:
    assert code_head() == run.head()


@pytest.mark.parametrize(
    ("at", "status"), [("0001", 503), ("9999", 200), ("elsewhere", 503), (None, 503)]
)
def test_ready_only_with_the_schema_that_is_needed(
    scratch: Scratch, nobody: Client, revision: None, at: str | None, status: int
) -> None:
    if at is None:
        scratch.execute("DELETE FROM alembic_version")
    else:
        scratch.execute("UPDATE alembic_version SET version_num = %s", (at,))
    try:
        answer = nobody.get("/readyz")
    finally:
        scratch.execute(
            "INSERT INTO alembic_version VALUES (%s) ON CONFLICT DO NOTHING", (run.head(),)
        )
        scratch.execute("DELETE FROM alembic_version WHERE version_num <> %s", (run.head(),))
    assert answer.status_code == status
    if status == 503:
        nobody.refused(answer, 503, "unavailable")
        assert "migrated" in answer.get_json()["detail"]
        assert answer.headers["Retry-After"]


def test_workers_and_broker_are_told_of(scratch: Scratch, nobody: Client, rows: HealthRows) -> None:
    def checks() -> tuple[str, str]:
        found = nobody.get("/readyz", expect=200).get_json()["checks"]
        return found["workers"], found["broker"]

    assert checks() == ("degraded", "degraded")
    rows.seen("one", True)
    rows.seen("two", False)
    assert checks() == ("ok", "degraded")
    rows.seen("two", True)
    assert checks() == ("ok", "ok")
    rows.gone("two")
    scratch.execute(
        "UPDATE nodes SET seen_at = seen_at - make_interval(secs => %s)", (ALIVE_SECONDS + 1,)
    )
    assert checks() == ("degraded", "degraded")
    rows.forget_nodes()
    assert scratch.execute("SELECT count(*) FROM nodes") == [(1,)]
    scratch.execute("UPDATE nodes SET seen_at = seen_at - interval '2 days'")
    rows.forget_nodes()
    assert scratch.execute("SELECT count(*) FROM nodes") == [(0,)]


def test_requests_refusals_and_moves_are_counted(anna: Client, bert: Client) -> None:
    table = Table.opened(anna)
    bert.post(f"{table.url}/seats", expect=201)
    anna.post(f"{table.url}/start", expect=200)
    seat = anna.get(table.url, expect=200).get_json()["turn"]["seat"]
    mover, waiting = (anna, bert) if seat == 0 else (bert, anna)
    before = figures(anna)
    legal = mover.get(f"{table.url}/legal-moves", expect=200).get_json()["legal_moves"]
    waiting.post(f"{table.url}/moves", {"type": "draw"}, expect=409)
    mover.post(f"{table.url}/moves", legal[0]["move"], expect=201)
    after = figures(anna)

    def grown(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    moves = "method=POST,route=/v1/games/<id:game_id>/moves"
    assert grown(f"abbot_request_seconds_count{{{moves},status=201}}") == 1
    assert grown(f"abbot_request_seconds_count{{{moves},status=409}}") == 1
    assert grown("abbot_refusals_total{code=not-your-turn}") == 1
    assert grown("abbot_moves_total{by=player}") == 1
    assert "abbot_feed_waiting{}" in after
    assert "abbot_feed_unsigned{}" in after
    for name in ("database_up", "overdue_turns", "overdue_seconds", "queue_unclaimed", "outages"):
        assert f"abbot_{name}{{}}" in after
    assert after["abbot_database_up{}"] == 1
    assert "abbot_streams_open{}" in after


def test_without_the_database_the_heartbeat_grows_older(tmp_path: Path) -> None:
    """It hangs, which is a longer wait than where nothing listens."""
    with (
        scratch_database() as scratch,
        losing_proxy(scratch.app_url) as proxy,
        open_pool(proxy.url, 2) as pool,
    ):
        opened = services.over(Store(pool), tmp_path)
        client = Client(create_app(opened=opened))
        beating = Heartbeat(lambda: opened.executor.service, 0.05)
        beating.start()
        try:
            age = "abbot_heartbeat_age_seconds{}"
            wait_for(lambda: age in figures(client), 20, "a heartbeat")
            told = figures(client)
            assert told[age] < 1
            proxy.hang()
            began = time.monotonic()
            first = figures(client)
            assert time.monotonic() - began < 2
            second = figures(client)
        finally:
            beating.stop()
            proxy.go_on()
    assert told["abbot_database_up{}"] == 1
    assert first["abbot_database_up{}"] == second["abbot_database_up{}"] == 0
    assert 0.9 < first[age] < second[age] - 0.9
    absent = {name.removesuffix("{}") for name in set(told) - set(second)}
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    assert absent >= {"abbot_outages", "abbot_worker_nodes", "abbot_feed_unsigned"}
    assert absent == set(re.findall(r"`(\w+)`°", page))


def test_every_figure_is_documented(nobody: Client) -> None:
    importlib.import_module("workers.figures")
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    nobody.get("/healthz", expect=200)
    text = nobody.get("/metrics", expect=200).get_data(as_text=True)
    types = re.findall(r"^# TYPE (abbot_\w+) (?:gauge|counter|histogram)$", text, re.M)
    found = {name for name in types if not name.endswith("_created")}
    assert len(found) > 15
    assert {name for name in found if f"`{name}`" not in page} == set()


def test_overdue_turns_are_counted(scratch: Scratch, anna: Client, bert: Client) -> None:
    table = Table.opened(anna, turn_seconds=60)
    bert.post(f"{table.url}/seats", expect=201)
    anna.post(f"{table.url}/start", expect=200)
    scratch.execute(
        "UPDATE deadlines SET due_at = due_at - interval '1 hour' WHERE game_id = %s",
        (table.game_id,),
    )
    counted = "SELECT count(*) FROM deadlines WHERE kind = 'turn' AND due_at < clock_timestamp()"
    # By the clock of the application, which other tests move.
    with psycopg.connect(scratch.clocked_url, autocommit=True) as clocked:
        for _ in range(50):
            before = clocked.execute(counted).fetchone()
            after = figures(anna)
            # Other tables' turns run out meanwhile.
            if clocked.execute(counted).fetchone() == before:
                break
    assert before == (after["abbot_overdue_turns{}"],)
    assert after["abbot_overdue_turns{}"] >= 1
    assert after["abbot_overdue_seconds{}"] > 3000
    anna.post(f"{table.url}/resign", expect=200)


def test_odd_methods_and_paths_make_no_figures_of_their_own(nobody: Client) -> None:
    nobody.send("BREW", "/v1/games")
    nobody.get("/v1/nowhere/at/all", expect=404)
    names = "\n".join(figures(nobody))
    assert "BREW" not in names
    assert "nowhere" not in names
