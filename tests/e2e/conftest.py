"""A whole installation in processes: API, broker and worker node on a scratch database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases import Scratch
from tests.e2e.api_process import Api
from tests.workers.conftest import running_nodes
from tests.workers.servers import Node, Valkey, valkey


@dataclass(frozen=True)
class Installation:
    """What a test may kill."""

    api: Api
    node: Node
    broker: Valkey
    scratch: Scratch


@pytest.fixture
def installation(scratch: Scratch, tmp_path: Path) -> Iterator[Installation]:
    """Everything up and ready."""
    api = Api(scratch.app_url, tmp_path, ABBOT_LOG_LEVEL="debug")
    with valkey() as broker, running_nodes(scratch, tmp_path) as nodes:
        node = nodes("worker", broker.url)
        try:
            api.start()
            node.wait_until_up()
            yield Installation(api, node, broker, scratch)
        finally:
            api.kill()
            scratch.forget_processes()
