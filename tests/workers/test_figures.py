"""The figures of a worker node, and the port on which one without an API serves them."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from eventstore import metrics
from eventstore.health import HealthRows
from eventstore.pool import Pool
from eventstore.settings import SettingsError
from workers.figures import SETTLED, Exporter
from workers.settings import metrics_address


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("", None),
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464)),
        ("[::1]:9464", ("::1", 9464)),
    ],
)
def test_where_it_serves(given: str, address: tuple[str, int] | None) -> None:
    assert metrics_address({"ABBOT_WORKER_METRICS": given}) == address


@pytest.mark.parametrize("given", ["yes", "host:", "1:99999", "0"])
def test_what_is_no_address_is_named(given: str) -> None:
    with pytest.raises(SettingsError, match="ABBOT_WORKER_METRICS"):
        metrics_address({"ABBOT_WORKER_METRICS": given})


def test_it_serves_its_figures_and_nothing_else(pool: Pool, tmp_path: Path) -> None:
    SETTLED.labels("turn", "settled").inc()
    exporter = Exporter(("127.0.0.1", 0), tmp_path, lambda: HealthRows(pool))
    exporter.start()
    try:
        url = f"http://127.0.0.1:{exporter.port}"
        with urllib.request.urlopen(f"{url}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        assert 'abbot_due_rows_total{kind="turn",outcome="settled"}' in text
        assert "abbot_database_up 1.0" in text
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}/else", timeout=20)
        assert refused.value.code == 404
    finally:
        exporter.stop()


def test_figures_of_dead_processes_are_forgotten(tmp_path: Path) -> None:
    folder = metrics.folder(tmp_path, metrics.WORKERS)
    folder.mkdir(parents=True)
    alive, dead, other = (
        folder / name for name in (f"counter_{os.getpid()}.db", "counter_999999999.db", "notes.txt")
    )
    for path in (alive, dead, other):
        path.touch()
    metrics.forget_dead(tmp_path, metrics.WORKERS)
    assert sorted(folder.iterdir()) == sorted([alive, other])
