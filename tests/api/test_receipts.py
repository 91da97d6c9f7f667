"""Receipts, exports and keys, checked as a stranger would check them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api import services
from domain.canonical import canonical
from eventstore import jws, signing
from eventstore.verifying import Report, check_export
from tests.api.client import Client
from tests.api.tables import Table

LINES = {"Accept": "application/x-ndjson"}


def _export(client: Client, table: Table, query: str = "") -> bytes:
    answer = client.get(f"{table.url}/events", headers=LINES, query=query, expect=200)
    return bytes(answer.get_data())


def _jwks(client: Client) -> dict[str, Any]:
    keys: dict[str, Any] = client.get("/.well-known/jwks.json", expect=200).get_json()
    return keys


def _states(report: Report) -> dict[str, bool | None]:
    return {check.check: check.ok for check in report.checks}


def _move(table: Table, **headers: str) -> dict[str, Any]:
    answer = table.mover().post(
        f"{table.url}/moves", table.choice(), headers=headers or None, expect=201
    )
    made: dict[str, Any] = answer.get_json()
    return made


def test_a_receipt_is_of_the_move_itself(match: Table, nobody: Client) -> None:
    jwks = _jwks(nobody)
    for _ in range(8):
        if match.game()["status"] != "active":
            break
        mover = match.mover()
        made = _move(match)
        event = made["events"][0]
        if event["type"] == "pile.reshuffled":
            event = made["events"][1]
        assert jws.verify(made["receipt"], jwks) == {
            "game_id": match.game_id,
            "version": event["version"],
            "hash": event["hash"],
            "at": event["at"],
            "player_id": mover.get("/v1/me").get_json()["player_id"],
        }


def test_what_is_signed_of_a_sandbox_game_says_so(nobody: Client, match: Table) -> None:
    jwks = _jwks(nobody)
    host, guest = (nobody.register(name, sandbox=True) for name in ("Carla", "Dora"))
    table = Table.opened(host)
    guest.post(f"{table.url}/seats", expect=201)
    table.clients[1] = guest
    table.start()
    receipt, real = _move(table)["receipt"], _move(match)["receipt"]
    assert jws.verify(receipt, jwks)["sandbox"] is True
    assert "sandbox" not in jws.verify(real, jwks)
    tests, others = _export(host, table), _export(match.host, match)
    assert jws.verify(json.loads(tests.splitlines()[-1])["jws"], jwks)["sandbox"] is True
    assert "sandbox" not in jws.verify(json.loads(others.splitlines()[-1])["jws"], jwks)
    for data, own in ((tests, receipt), (others, real)):
        assert check_export(data, receipts=[own], jwks=jwks).ok


def test_a_repeated_request_gets_the_receipt_again(match: Table) -> None:
    mover, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "once"}
    answers = [
        mover.post(f"{match.url}/moves", move, headers=headers, expect=201).get_json()
        for _ in range(2)
    ]
    assert answers[0]["receipt"] == answers[1]["receipt"]


def test_a_dry_run_gets_none(match: Table) -> None:
    answer = match.mover().post(f"{match.url}/moves", match.choice(), query="dry_run=true")
    assert "receipt" not in answer.get_json()


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_whole_match_verifies_with_all_its_receipts(
    anna: Client, bert: Client, nobody: Client, ruleset: str
) -> None:
    table = Table.opened(anna, ruleset, options={"rounds_to_win": 1})
    seed = bert.post(f"{table.url}/seats", {"client_seed": "0badcafe"}, expect=201)
    assert seed.get_json()["status"] == "lobby"
    table.clients[1] = bert
    table.start()
    receipts, running = [], b""
    while table.game()["status"] == "active":
        receipts.append(_move(table)["receipt"])
        if len(receipts) == 5:
            running = _export(bert, table)
    jwks = _jwks(nobody)
    data = _export(nobody, table)
    report = check_export(data, receipts=receipts, jwks=jwks)
    assert [check for check in report.checks if check.ok is not True] == []
    assert len(report.checks) == 8 + len(receipts)
    # Whoever asks, the record is one and the same once it is over.
    assert _export(anna, table) == data
    seen = check_export(running, receipts=receipts[:5], jwks=jwks)
    assert seen.ok
    assert _states(seen)["signature"] is True
    later = check_export(running, receipts=receipts[-1:], jwks=jwks)
    assert later.checks[-1].ok is None


def test_each_line_is_canonical_json(match: Table) -> None:
    lines = _export(match.host, match).splitlines(keepends=True)
    for line in lines:
        assert line == canonical(json.loads(line)) + b"\n"
    head, last = json.loads(lines[-1]), json.loads(lines[-2])
    assert head["type"] == "export.signed"
    assert {name: head[name] for name in ("game_id", "version", "hash", "at")} == {
        name: last[name] for name in ("game_id", "version", "hash", "at")
    }


def test_a_part_of_a_record_is_told_from_the_whole(match: Table, nobody: Client) -> None:
    match.host.post(f"{match.url}/resign", expect=200)
    cut = check_export(_export(nobody, match, "limit=4"))
    assert not cut.ok
    assert "cut" in next(each for each in cut.checks if each.check == "signature").detail
    tail = check_export(_export(nobody, match, "after=4"))
    assert tail.first_wrong is not None
    assert "stands where 1 belongs" in tail.first_wrong.detail
    assert not check_export(_export(nobody, match, "after=4000")).ok


def test_keys_are_public_and_can_be_kept(match: Table, nobody: Client) -> None:
    _move(match)
    answer = nobody.get("/.well-known/jwks.json", expect=200)
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    for key in answer.get_json()["keys"]:
        assert set(key) == {"kty", "crv", "x", "kid", "alg", "use"}
    tag = answer.headers["ETag"]
    again = nobody.get("/.well-known/jwks.json", headers={"If-None-Match": tag})
    assert again.status_code == 304
    nobody.refused(nobody.get("/.well-known/jwks.json", query="a=1"), 422, "validation")


def test_old_receipts_stay_good_when_the_key_is_changed(
    match: Table, nobody: Client, opened: services.Services
) -> None:
    before = _move(match)["receipt"]
    signing.rotate(opened.store.pool, opened.signer.folder)
    after = _move(match)["receipt"]
    assert jws.read(before).kid != jws.read(after).kid
    report = check_export(_export(nobody, match), receipts=[before, after], jwks=_jwks(nobody))
    assert report.ok
    assert [check.ok for check in report.checks[-2:]] == [True, True]
