"""Disputes: filed, found, settled by the end, resolved by auditors, and kept from others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import psycopg
import pytest
from psycopg import errors

from api.services import Services
from domain import registry
from domain.halleluja.ruleset import Halleluja
from domain.rules import Rule
from domain.verification import verify
from eventstore import disputes as store
from eventstore import executor, verified
from eventstore.appending import Append, Appended
from eventstore.positions import Positions
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch

NOWHERE = "01900000-0000-7000-8000-000000000000"


def dispute(table: Table, client: Client, expect: int = 201, **body: Any) -> dict[str, Any]:
    body.setdefault("statement", "That is not right.")
    answer = client.post(f"{table.url}/disputes", body, expect=expect)
    filed: dict[str, Any] = answer.get_json()
    return filed


def listed(table: Table, client: Client) -> list[dict[str, Any]]:
    answer = client.get(f"{table.url}/disputes", expect=200)
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def refuse(table: Table, client: Client, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{table.url}/moves", body)
    assert answer.status_code in (409, 422)
    problem: dict[str, Any] = answer.get_json()
    return problem


def dealt(table: Table) -> int:
    """The version of the first deal."""
    items = table.host.get(f"{table.url}/events", expect=200).get_json()["items"]
    return next(item["version"] for item in items if item["type"] == "round.dealt")


@pytest.fixture
def auditor(nobody: Client, opened: Services) -> Client:
    client = nobody.register("Clara")
    assert opened.players.change_scope(client.player_id, "audit", granted=True)
    return client


@pytest.fixture
def duel(anna: Client, bert: Client) -> Table:
    """A match of Vallelujah, where the first move is always to lead one unit."""
    table = Table.opened(anna, "vallelujah")
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    table.start()
    return table


def test_a_refused_move_is_judged_again(match: Table) -> None:
    client = match.other()
    seen = match.game(client)
    card = seen["you"]["hand"][0]
    problem = refuse(match, client, type="play", card=card)
    answer = client.post(
        f"{match.url}/disputes",
        {"attempt_id": problem["attempt_id"], "statement": "It was my turn."},
        expect=201,
    )
    filed = answer.get_json()
    assert answer.headers["Location"] == f"{match.url}/disputes/{filed['dispute_id']}"
    assert filed["claim"] == "legality"
    finding = filed["finding"]
    assert finding["outcome"] == "dismissed"
    assert finding["rule"] == problem["rule"] == "table.turn-order"
    assert finding["wording"] == problem["wording"]
    evidence = finding["evidence"]
    assert evidence["explanation"]["code"] == "not-your-turn"
    assert evidence["attempt"]["move"] == {"type": "play", "card": card}
    assert evidence["position"]["you"] == {"seat": seen["you"]["seat"], "hand": seen["you"]["hand"]}
    assert evidence["legal_moves"] == []
    assert evidence["head"] == seen["head"]
    shown = client.get(answer.headers["Location"], expect=200)
    assert shown.get_json() == filed
    client.get(
        answer.headers["Location"], headers={"If-None-Match": shown.headers["ETag"]}, expect=304
    )


def test_a_move_that_was_received_in_time_and_recorded_too_late(
    match: Table, opened: Services, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = match.mover()
    append = opened.store.append

    def slow(wanted: Append) -> Appended:
        monkeypatch.undo()
        scratch.advance(100)
        monkeypatch.setattr(executor, "monotonic", lambda: monotonic() + 100)
        return append(wanted)

    move = match.choice()
    monkeypatch.setattr(opened.store, "append", slow)
    problem = refuse(match, client, **move)
    assert problem["code"] == "turn-expired"
    filed = dispute(match, client, attempt_id=problem["attempt_id"])
    assert filed["claim"] == "time"
    assert filed["finding"]["outcome"] == "upheld"
    clock = filed["finding"]["evidence"]["clock"]
    assert clock["received_at"] < clock["due_at"]
    assert filed["finding"]["rule"] == "table.turn-timer"
    # The same received too late.
    problem = refuse(match, client, **move)
    filed = dispute(match, client, attempt_id=problem["attempt_id"])
    assert filed["finding"]["outcome"] == "dismissed"
    assert filed["finding"]["evidence"]["clock"]["due_at"] == clock["due_at"]


def test_events_are_disputed_by_what_they_are(duel: Table, scratch: Scratch) -> None:
    mover = duel.mover()
    made = mover.post(f"{duel.url}/moves", duel.choice(), expect=201).get_json()["events"][0]
    due_at = duel.game()["turn"]["due_at"]
    scratch.advance(100)
    duel.host.get(duel.url)
    late = refuse(duel, duel.mover(), type="take", take="crimson-1", round=1, turn=2)
    events = duel.host.get(f"{duel.url}/events", expect=200).get_json()["items"]
    expired = next(event for event in events if event["type"] == "turn.expired")
    assert late["code"] == "turn-expired"
    cases = {
        made["version"]: ("legality", made["type"]),
        expired["version"]: ("time", "turn.expired"),
        dealt(duel): ("shuffle", "round.dealt"),
        1: ("record", "game.created"),
    }
    for version, (claim, type_) in cases.items():
        filed = dispute(duel, duel.host, version=version)
        finding = filed["finding"]
        assert filed["claim"] == finding["claim"] == claim
        assert finding["outcome"] == ("pending" if claim == "shuffle" else "dismissed"), finding
        assert finding["evidence"]["event"]["type"] == type_
        oks = {check["check"]: check.get("ok") for check in finding["evidence"]["checks"]}
        assert oks["chain"] is oks["legality"] is oks["deadlines"] is True
        assert oks["shuffle"] is oks["commitment"] is oks["result"] is None
    clock = listed(duel, duel.host)[2]["finding"]["evidence"]["clock"]
    assert clock == {"recorded_at": expired["at"], "due_at": due_at}
    assert expired["at"] > due_at


def test_anything_can_be_claimed_of_any_event(duel: Table) -> None:
    events = duel.host.get(f"{duel.url}/events", expect=200).get_json()["items"]
    for event in events[:5]:
        for claim in ("legality", "time", "shuffle", "record"):
            filed = dispute(duel, duel.host, version=event["version"], claim=claim)
            outcome = "pending" if claim == "shuffle" else "dismissed"
            assert filed["finding"]["outcome"] == outcome


def test_a_claim_about_the_shuffle_waits_for_the_end(match: Table, nobody: Client) -> None:
    filed = dispute(match, match.host, version=dealt(match))
    assert filed["finding"]["outcome"] == "pending"
    assert "shuffle" not in filed["finding"]["evidence"]
    match.host.post(f"{match.url}/resign", expect=200)
    url = f"{match.url}/disputes/{filed['dispute_id']}"
    settled = nobody.get(url, expect=200).get_json()
    assert settled["finding"]["outcome"] == "dismissed"
    assert settled["settled_at"] > filed["at"] == settled["at"]
    shuffle = settled["finding"]["evidence"]["shuffle"]
    assert shuffle["secret"] == match.game()["shuffle"]["secret"]
    assert shuffle["seeds"] == ["", ""]
    assert nobody.get(url, expect=200).get_json() == settled
    # Filed after the end it need not wait.
    late = dispute(match, match.clients[1], version=dealt(match))
    assert late["finding"]["outcome"] == "dismissed"
    assert "settled_at" not in late


def test_a_worker_settles_what_nobody_asks_for(
    match: Table, opened: Services, scratch: Scratch
) -> None:
    dispute(match, match.host, version=dealt(match))
    opened.disputes.settle_waiting(1000)
    waiting = "SELECT count(*) FROM pending_disputes WHERE game_id = %s"
    assert scratch.execute(waiting, (match.game_id,)) == [(1,)]
    match.host.post(f"{match.url}/resign", expect=200)
    assert opened.disputes.settle_waiting(1000) >= 1
    assert scratch.execute(waiting, (match.game_id,)) == [(0,)]
    types = [event.type for event in opened.disputes.stream(match.game_id)]
    assert types == ["dispute.filed", "dispute.settled"]


def test_a_receipt_shows_what_the_record_was(
    match: Table, opened: Services, scratch: Scratch
) -> None:
    event = match.host.get(f"{match.url}/events").get_json()["items"][-1]
    members = {key: event[key] for key in ("game_id", "version", "hash", "at")}
    signed = opened.signer.sign(members)
    claimed = {"version": event["version"], "receipt": signed}
    filed = dispute(match, match.host, **claimed)
    assert filed["claim"] == "record"
    assert filed["finding"]["outcome"] == "dismissed"
    assert filed["finding"]["evidence"]["receipt"] == members
    for receipt, told in (
        (opened.signer.sign({**members, "hash": "0" * 64}), "upheld"),
        (opened.signer.sign({**members, "version": 1}), "dismissed"),
        (opened.signer.sign({**members, "game_id": NOWHERE}), "dismissed"),
        (signed[:-4] + "AAAA", "dismissed"),
        ("no receipt", "dismissed"),
    ):
        filed = dispute(match, match.host, version=event["version"], receipt=receipt)
        assert filed["finding"]["outcome"] == told, receipt


def test_a_record_that_was_changed(match: Table, scratch: Scratch) -> None:
    report = match.host.get(f"{match.url}/audit", expect=200).get_json()
    assert report["ok"] is True
    with scratch.unguarded():
        scratch.execute(
            "UPDATE events SET body = replace(body, '\"turn_seconds\":60', '\"turn_seconds\":61')"
            " WHERE game_id = %s AND version = 1",
            (match.game_id,),
        )
    filed = dispute(match, match.host, version=2, claim="record")
    assert filed["finding"]["outcome"] == "upheld"
    assert "event 1" in filed["finding"]["reason"]
    report = match.host.get(f"{match.url}/audit", expect=200).get_json()
    assert report["ok"] is False
    assert report["checks"][0] == {"check": "chain", "ok": False, "version": 1}
    other = dispute(match, match.host, version=2, claim="legality")
    assert other["finding"]["outcome"] == "dismissed"
    assert "Besides, the record fails the checks chain" in other["finding"]["reason"]


@pytest.mark.parametrize(
    ("change", "version"),
    [
        ("UPDATE events SET body = 'no JSON' WHERE game_id = %s AND version = 2", 2),
        ("UPDATE events SET body = '{}' WHERE game_id = %s AND version = 3", 3),
        ("UPDATE events SET body = replace(body, 'seat.taken', 'seat.given') "
         "WHERE game_id = %s AND version = 2", 2),
        ("DELETE FROM events WHERE game_id = %s AND version = 3", 3),
        ("DELETE FROM events WHERE game_id = %s", 1),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_followed_any_more(
    match: Table, scratch: Scratch, opened: Services, change: str, version: int
) -> None:
    with scratch.unguarded():
        scratch.execute(change, (match.game_id,))
    opened.store.positions = Positions(1)
    for client in (Client(match.host.app), match.host):
        report = client.get(f"{match.url}/audit", expect=200).get_json()
        assert report["ok"] is False
        wrong = [check for check in report["checks"] if check.get("ok") is False]
        assert {"check": "rows", "ok": False, "version": version} in wrong


def test_a_private_record_that_cannot_be_followed_is_nobodys_business(
    anna: Client, bert: Client, nobody: Client, scratch: Scratch, opened: Services
) -> None:
    table = Table.opened(anna, visibility="private")
    with scratch.unguarded():
        scratch.execute("UPDATE events SET body = '[]' WHERE game_id = %s", (table.game_id,))
    opened.store.positions = Positions(1)
    assert anna.get(f"{table.url}/audit", expect=200).get_json()["ok"] is False
    for client in (bert, nobody):
        client.get(f"{table.url}/audit", expect=404)


def test_only_the_disputant_sees_it_while_the_game_runs(
    match: Table, nobody: Client, auditor: Client
) -> None:
    filed = dispute(match, match.clients[1], version=dealt(match))
    url = f"{match.url}/disputes/{filed['dispute_id']}"
    stranger = nobody.register("Dora")
    for client in (match.host, stranger, nobody):
        client.refused(client.get(url), 404, "not-found")
        assert listed(match, client) == []
    assert auditor.get(url, expect=200).get_json() == filed
    assert listed(match, auditor) == listed(match, match.clients[1]) == [filed]
    looks = auditor.get(f"{match.url}/looks", expect=200).get_json()["items"]
    assert [look["operation"] for look in looks] == ["listDisputes", "getDispute"]
    match.host.post(f"{match.url}/resign", expect=200)
    for client in (match.host, stranger, nobody):
        assert [each["dispute_id"] for each in listed(match, client)] == [filed["dispute_id"]]


def test_who_may_dispute_what(match: Table, nobody: Client) -> None:
    url = f"{match.url}/disputes"
    body = {"version": 1, "statement": "No."}
    nobody.post(url, body, expect=401)
    stranger = nobody.register("Dora")
    stranger.refused(stranger.post(url, body), 403, "forbidden")
    stranger.refused(stranger.post(url, {}), 403, "forbidden")
    attempt = refuse(match, match.other(), type="draw")["attempt_id"]
    for sent in (
        {"version": 10_000},
        {"version": 0},
        {"attempt_id": NOWHERE},
        {"attempt_id": "x"},
        {"attempt_id": attempt},
        {"version": 1, "attempt_id": attempt},
        {},
        {"version": 1, "claim": "weather"},
        {"version": 1, "claim": "legality", "receipt": "x"},
        {"version": 1, "statement": ""},
        {"version": 1, "statement": "x" * 2001},
        {"version": 1, "statement": "a\u0000b"},
        {"version": 1, "statement": "a\U000e0001b"},
    ):
        mover = match.mover()
        answer = mover.post(url, {"statement": "No.", **sent})
        mover.refused(answer, 422, "validation")
    other = match.other()
    for claim in ("shuffle", "record"):
        answer = other.post(url, {"statement": "No.", "attempt_id": attempt, "claim": claim})
        other.refused(answer, 422, "validation")
    answer = other.post(url, body, headers={"If-Match": '"1"'})
    other.refused(answer, 412, "precondition-failed")
    assert listed(match, match.host) == []


def test_a_statement_has_lines(match: Table) -> None:
    said = "It was my turn.\n\nSee 👩‍🌾 above."
    assert dispute(match, match.host, version=1, statement=said)["statement"] == said


def test_disputes_are_bounded_and_a_repeated_one_is_the_same(
    match: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST", 2)
    first = dispute(match, match.host, version=1)
    assert dispute(match, match.host, expect=200, version=1) == first
    second = dispute(match, match.host, version=1, statement="Nor is this.")
    assert second["dispute_id"] != first["dispute_id"]
    body = {"version": 2, "statement": "Nor this."}
    answer = match.host.post(f"{match.url}/disputes", body)
    match.host.refused(answer, 403, "forbidden")
    dispute(match, match.clients[1], version=1)


def test_a_dispute_can_be_sent_again(match: Table, auditor: Client, nobody: Client) -> None:
    url = f"{match.url}/disputes"
    key = {"Idempotency-Key": "dispute-1"}
    body = {"version": dealt(match), "statement": "Loaded."}
    first = match.host.post(url, body, headers=key, expect=201)
    again = match.host.post(url, body, headers=key, expect=201)
    assert again.get_data() == first.get_data()
    assert again.headers["Location"] == first.headers["Location"]
    other = match.host.post(url, {**body, "statement": "Marked."}, headers=key)
    match.host.refused(other, 422, "idempotency-key-reused")
    other = match.host.post(f"{match.url}/resign", headers=key)
    match.host.refused(other, 422, "idempotency-key-reused")
    assert len(listed(match, match.host)) == 1
    url = f"{first.headers['Location']}/resolution"
    body = {"resolution": "It was not."}
    first = auditor.post(url, body, headers=key, expect=201)
    assert auditor.post(url, body, headers=key, expect=201).get_data() == first.get_data()
    assert auditor.post(url, body, expect=200).get_json() == first.get_json()
    match.host.post(f"{match.url}/resign", expect=200)
    # What was answered then, though the end has settled it meanwhile.
    assert auditor.post(url, body, headers=key, expect=201).get_data() == first.get_data()


def test_an_auditor_resolves(
    match: Table, auditor: Client, opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    filed = dispute(match, match.host, version=1)
    url = f"{match.url}/disputes/{filed['dispute_id']}/resolution"
    body = {"resolution": "All is well."}
    resolved = auditor.post(url, body, expect=201).get_json()
    assert resolved["finding"] == filed["finding"]
    (resolution,) = resolved["resolutions"]
    assert resolution["player_id"] == auditor.player_id
    assert resolution["resolution"] == "All is well."
    match.host.refused(match.host.post(url, body), 403, "forbidden")
    other = match.clients[1]
    other.refused(other.post(url, body), 404, "not-found")
    missing = url.replace(filed["dispute_id"], NOWHERE)
    auditor.refused(auditor.post(missing, body), 404, "not-found")
    for sent in ({}, {"resolution": ""}, {"resolution": "x" * 2001}):
        auditor.refused(auditor.post(url, sent), 422, "validation")
    # A party resolves nothing, whatever its token may do, not even after the end.
    for client in (match.host, other):
        opened.players.change_scope(client.player_id, "audit", granted=True)
    match.host.refused(match.host.post(url, body), 403, "forbidden")
    match.host.post(f"{match.url}/resign", expect=200)
    for client in (match.host, other):
        client.refused(client.post(url, body), 403, "forbidden")
    monkeypatch.setattr(store, "MOST_RESOLUTIONS", 2)
    auditor.post(url, {"resolution": "Still so."}, expect=201)
    auditor.refused(auditor.post(url, {"resolution": "Ever so."}), 403, "forbidden")


def test_disputes_of_private_games(anna: Client, bert: Client, auditor: Client) -> None:
    table = Table.opened(anna, visibility="private")
    filed = dispute(table, anna, version=1)
    for client in (bert, Client(anna.app)):
        for path in ("", f"/{filed['dispute_id']}"):
            client.refused(client.get(f"{table.url}/disputes{path}"), 404, "not-found")
        client.refused(client.get(f"{table.url}/audit"), 404, "not-found")
    for path in ("attempts", "looks"):
        bert.refused(bert.get(f"{table.url}/{path}"), 404, "not-found")
    body = {"version": 1, "statement": "No."}
    bert.refused(bert.post(f"{table.url}/disputes", body), 404, "not-found")
    url = f"{table.url}/disputes/{filed['dispute_id']}/resolution"
    bert.refused(bert.post(url, {"resolution": "No."}), 404, "not-found")
    auditor.get(f"{table.url}/disputes/{filed['dispute_id']}", expect=200)


def test_pages_of_disputes(match: Table) -> None:
    for number in range(3):
        dispute(match, match.host, version=1, statement=f"Number {number}.")
    page = match.host.get(f"{match.url}/disputes", query="limit=2", expect=200)
    cursor = page.get_json()["next_cursor"]
    rest = match.host.get(f"{match.url}/disputes", query=f"cursor={cursor}", expect=200)
    items = page.get_json()["items"] + rest.get_json()["items"]
    assert sorted(each["statement"] for each in items) == ["Number 0.", "Number 1.", "Number 2."]
    assert "next_cursor" not in rest.get_json()


def test_the_stream_of_disputes_is_a_chain_that_can_only_grow(
    match: Table, opened: Services, scratch: Scratch
) -> None:
    for version in (1, 2):
        dispute(match, match.host, version=version)
    assert opened.disputes.fault(match.game_id) is None
    for url, refusal in (
        (scratch.app_url, errors.InsufficientPrivilege),
        (scratch.owner_url, errors.RestrictViolation),
    ):
        for statement in ("DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET body = body"):
            with psycopg.connect(url) as connection, pytest.raises(refusal):
                connection.execute(statement.format("dispute_events").encode())
    with scratch.unguarded("dispute_events"):
        scratch.execute(
            "UPDATE dispute_events SET body = replace(body, 'not right', 'quite right')"
            " WHERE game_id = %s AND version = 1",
            (match.game_id,),
        )
    fault = opened.disputes.fault(match.game_id)
    assert fault is not None
    assert fault.version == 1
    match.host.post(f"{match.url}/resign", expect=200)
    report = match.host.get(f"{match.url}/audit", expect=200).get_json()
    assert report["checks"][-1]["check"] == "disputes"
    assert report["checks"][-1]["ok"] is False


def test_a_record_is_checked_once_until_it_is_another(
    match: Table, opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(events: Any, *, secret: bytes) -> Any:
        made.append(len(events))
        return verify(events, secret=secret)

    monkeypatch.setattr(verified, "verify", counted)
    loaded = opened.store.load(match.game_id)
    assert loaded is not None
    events = opened.store.events(match.game_id)
    kept = verified.Verified()
    first = kept.checks(events, loaded.secret)
    assert kept.checks(opened.store.events(match.game_id), loaded.secret) == first
    assert made == [len(events)]
    # The hash stays, as if only the body had been changed in the database.
    changed = [*events[:-1], replace(events[-1], at=f"2099{events[-1].at[4:]}")]
    assert kept.checks(changed, loaded.secret)[0].ok is False
    assert made == [len(events)] * 2
    odd = [*events[:-1], replace(events[-1], data={**events[-1].data, "x": 0.5})]
    assert kept.checks(odd, loaded.secret)[0].ok is False


class Changed(Halleluja):
    """Halleluja with other rules, and all of them worded anew."""

    version = 2
    rules = tuple(Rule(rule.id, "Otherwise.", rule.source) for rule in Halleluja.rules)

    def perform(self, unfolding: Any, seat: int, move: Any) -> Any:
        raise AssertionError("an old game is not judged by new rules")

    legal_moves = listed_moves = reason = view = perform


@pytest.fixture
def newer_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(registry, "_VERSIONS", dict(registry._VERSIONS))
    newest = dict(registry.RULESETS)

    def change() -> None:
        registry.register(Changed())
        assert registry.RULESETS["halleluja"].name == "halleluja/2"

    yield change
    registry.RULESETS.clear()
    registry.RULESETS.update(newest)


def test_a_finding_says_the_same_under_newer_rules(
    match: Table, opened: Services, scratch: Scratch, newer_rules: Any
) -> None:
    mover, other = match.mover(), match.other()
    dispute(match, mover, attempt_id=refuse(match, mover, type="keep")["attempt_id"])
    body = {"type": "exclaim", "word": "mau"}
    said = other.post(f"{match.url}/moves", body, expect=201).get_json()["events"][0]
    for version in (said["version"], said["version"] + 1, dealt(match), 1):
        dispute(match, match.host, version=version)
    scratch.advance(100)
    late = refuse(match, mover, type="draw", round=1, turn=1)
    assert late["code"] == "turn-expired"
    dispute(match, mover, attempt_id=late["attempt_id"])
    match.host.post(f"{match.url}/resign", expect=200)
    loaded = opened.store.load(match.game_id)
    assert loaded is not None
    before = opened.disputes.of(loaded)
    assert [each.finding["outcome"] for each in before] == ["dismissed"] * 6
    assert [each.settled_at is not None for each in before] == [
        False,
        False,
        True,
        True,
        *(False,) * 2,
    ]
    seen = match.game()
    newer_rules()
    for each in before:
        assert opened.disputes.computed_again(each) == each.finding
    assert match.game() == seen
    assert match.host.get(f"{match.url}/audit", expect=200).get_json()["ok"] is True
    again = dispute(match, match.host, version=said["version"], statement="Once more.")
    assert again["finding"]["evidence"]["ruleset_version"] == "halleluja/1"
    assert again["finding"]["wording"] != "Otherwise."


def test_an_audit_tells_what_the_caller_may_know(
    match: Table, nobody: Client, auditor: Client
) -> None:
    for client in (nobody, match.host):
        report = client.get(f"{match.url}/audit", expect=200).get_json()
        assert report["ok"] is True
        oks = {check["check"]: check.get("ok") for check in report["checks"]}
        assert oks == {
            "chain": True,
            "commitment": None,
            "shuffle": None,
            "legality": True,
            "deadlines": True,
            "result": None,
        }
    report = auditor.get(f"{match.url}/audit", expect=200).get_json()
    oks = {check["check"]: check.get("ok") for check in report["checks"]}
    assert oks["shuffle"] is oks["commitment"] is oks["disputes"] is True
    looks = auditor.get(f"{match.url}/looks", expect=200).get_json()["items"]
    assert [look["operation"] for look in looks] == ["auditGame"]
    match.host.post(f"{match.url}/resign", expect=200)
    answer = nobody.get(f"{match.url}/audit", expect=200)
    assert all(check["ok"] for check in answer.get_json()["checks"])
    etag = {"If-None-Match": answer.headers["ETag"]}
    nobody.get(f"{match.url}/audit", headers=etag, expect=304)
