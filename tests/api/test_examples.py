"""The document's examples are what the server answers.

With ABBOT_WRITE_EXAMPLES=1 the file of examples is written anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from api import services
from api.app import create_app
from api.documentation import EXAMPLES
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.api.examples import walk
from tests.api.opened import services_on
from tests.api.test_outage import NOWHERE
from tests.databases import scratch_database


def test_the_examples_are_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a database whose clock nobody has moved: the examples keep the order of all times in them.
    with (
        scratch_database() as scratch,
        services_on(scratch, tmp_path / "keys") as opened,
        open_pool(NOWHERE, 1, timeout=0.1) as pool,
    ):
        away = create_app(opened=services.over(Store(pool), tmp_path))
        found = walk(create_app(opened=opened), away, scratch, monkeypatch).examples()
    if os.environ.get("ABBOT_WRITE_EXAMPLES"):
        EXAMPLES.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    stored = json.loads(EXAMPLES.read_text("utf-8"))
    for kind in found:
        assert set(found[kind]) == set(stored[kind])
        for name in found[kind]:
            assert found[kind][name] == stored[kind][name], (
                f"{kind} of {name}: run this with ABBOT_WRITE_EXAMPLES=1, then ./abbot openapi"
            )
