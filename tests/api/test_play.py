"""A match over HTTP, from the first request to the last event."""

from __future__ import annotations

import hashlib

import pytest

from domain.canonical import canonical
from tests.api.client import Client
from tests.api.tables import Table


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_whole_match(nobody: Client, anna: Client, bert: Client, ruleset: str) -> None:
    table = Table.opened(anna, ruleset, options={"rounds_to_win": 1})
    bert.post(f"{table.url}/seats", {"client_seed": "5eed"}, expect=201)
    table.clients[1] = bert
    table.start()
    game = table.play_on()
    assert game["status"] == "finished"
    assert game["result"]["outcome"] == "won"
    assert all("hand" in seat for seat in game["seats"])
    secret = bytes.fromhex(game["shuffle"]["secret"])
    commitment = hashlib.sha256(secret + table.game_id.encode()).hexdigest()
    assert game["shuffle"]["commitment"] == commitment
    _check_chain(nobody, table)


def _check_chain(client: Client, table: Table) -> None:
    accept = {"Accept": "application/x-ndjson"}
    lines = client.get(f"{table.url}/events", headers=accept, expect=200)
    import json

    events = [json.loads(line) for line in lines.get_data().splitlines()[:-1]]
    assert [event["version"] for event in events] == list(range(1, len(events) + 1))
    before = "00" * 32
    for event in events:
        assert event.pop("prev_hash") == before
        own = event.pop("hash")
        body = bytes.fromhex(before) + canonical(event)
        assert hashlib.sha256(body).hexdigest() == own
        before = own
