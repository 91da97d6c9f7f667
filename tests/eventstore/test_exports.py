"""Files that are checked without a server: whatever is done to one is found, and named."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace

import pytest

from domain.canonical import canonical
from domain.events import Recorded
from eventstore.exports import BadExport, read
from eventstore.verifying import Report, check_export
from tests.domain.verification.records import at, chained, finished
from tests.eventstore.exports import Notary


@pytest.fixture(scope="module")
def records() -> list[list[Recorded]]:
    return sorted(finished(10), key=len)[:6]


@pytest.fixture(scope="module")
def notary() -> Notary:
    return Notary()


@pytest.fixture(scope="module")
def record(records: list[list[Recorded]]) -> list[Recorded]:
    return records[0]


@pytest.fixture(scope="module")
def export(record: list[Recorded], notary: Notary) -> bytes:
    return notary.export(record)


def _check(report: Report, name: str) -> bool | None:
    return next(check.ok for check in report.checks if check.check == name)


def _detail(report: Report, name: str) -> str:
    return next(check.detail for check in report.checks if check.check == name)


def test_what_is_exported_is_read_again(export: bytes, record: list[Recorded]) -> None:
    read_back = read(export)
    assert read_back.events == record
    assert read_back.head is not None


def test_an_honest_export(export: bytes, notary: Notary) -> None:
    report = check_export(export, jwks=notary.jwks)
    assert [check for check in report.checks if check.ok is not True] == []
    untrusted = check_export(export)
    assert untrusted.ok
    assert _check(untrusted, "signature") is None
    assert "intact" in _detail(untrusted, "signature")
    foreign = check_export(export, jwks=Notary().jwks)
    assert _check(foreign, "signature") is False


def test_without_a_signature(export: bytes, notary: Notary) -> None:
    bare = b"".join(export.splitlines(keepends=True)[:-1])
    assert check_export(bare).ok
    assert "no signature" in _detail(check_export(bare), "signature")
    assert not check_export(bare, jwks=notary.jwks).ok


def flipped(data: bytes, place: int, dice: random.Random) -> bytes:
    other = data[place]
    while other == data[place]:
        other = dice.randrange(256)
    return data[:place] + bytes([other]) + data[place + 1 :]


def line_of(data: bytes, place: int) -> int:
    return 1 + data.count(b"\n", 0, place)


def test_any_byte_that_is_changed_is_found_and_its_event_named(
    records: list[list[Recorded]], notary: Notary
) -> None:
    dice = random.Random("bytes")
    for record in records:
        export = notary.export(record)
        for _ in range(25):
            place = dice.randrange(len(export))
            report = check_export(flipped(export, place, dice))
            first = report.first_wrong
            assert first is not None
            line = line_of(export, place)
            if line <= len(record):
                assert first.version == line
            else:
                assert first.check in ("signature", "file")


def test_each_byte_of_the_signed_head(export: bytes) -> None:
    dice = random.Random("head")
    start = export.rstrip(b"\n").rindex(b"\n") + 1
    for place in range(start, len(export)):
        first = check_export(flipped(export, place, dice)).first_wrong
        assert first is not None
        assert first.check in ("signature", "file")


def test_a_file_that_is_cut(export: bytes, record: list[Recorded], notary: Notary) -> None:
    lines = export.splitlines(keepends=True)
    for keep in (1, 5, len(record) - 1):
        unsigned = check_export(b"".join(lines[:keep]))
        assert "cut" in _detail(unsigned, "file")
        assert unsigned.first_wrong is not None
        assert unsigned.first_wrong.version == keep + 1
        signed = check_export(b"".join([*lines[:keep], lines[-1]]))
        assert "cut" in _detail(signed, "signature")
        within = check_export(b"".join(lines[:keep]) + lines[keep][:9])
        assert "cut" in _detail(within, "file")
    without_end = check_export(b"".join(lines[:-1]) + lines[-1][:-1])
    assert "cut" in _detail(without_end, "file")
    beginning = check_export(b"".join(lines[3:]))
    assert beginning.first_wrong is not None
    assert beginning.first_wrong.check == "chain"
    # An export of a running game, cut: its signature tells of more.
    running = notary.export(record[:9], seat=0, over=False).splitlines(keepends=True)
    assert not check_export(b"".join([*running[:6], running[-1]])).ok


def test_lines_that_change_places(export: bytes) -> None:
    lines = export.splitlines(keepends=True)
    for index in range(1, len(lines) - 2, 7):
        swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
        first = check_export(b"".join(swapped)).first_wrong
        assert first is not None
        assert (first.check, first.version) == ("chain", index + 1)
        assert "stands where" in first.detail
    early = check_export(b"".join([lines[0], lines[-1], *lines[1:-1]]))
    assert "before the end" in _detail(early, "file")
    twice = check_export(b"".join([*lines, lines[-1]]))
    assert "before the end" in _detail(twice, "file")


def test_lines_that_stand_twice(export: bytes) -> None:
    """What is wrong is named by where it stands, not by the number that it brings along."""
    lines = export.splitlines(keepends=True)
    for index in (0, 2, len(lines) - 3):
        for place in (index + 1, len(lines) - 1):
            twice = [*lines[:place], lines[index], *lines[place:]]
            first = check_export(b"".join(twice)).first_wrong
            assert first is not None
            assert (first.check, first.version) == ("chain", place + 1)


def test_a_part_of_a_running_record(record: list[Recorded], notary: Notary) -> None:
    """Wherever it begins, it is no whole record."""
    lines = notary.export(record[:12], seat=0, over=False).splitlines(keepends=True)
    for start in range(1, len(lines) - 1):
        first = check_export(b"".join(lines[start:])).first_wrong
        assert first is not None
        assert (first.check, first.version) == ("chain", 1)


def test_lines_of_another_game(records: list[list[Recorded]], notary: Notary) -> None:
    own = notary.export(records[0]).splitlines(keepends=True)
    foreign_game = [replace(e, game_id=e.game_id[:-1] + "0") for e in records[1]]
    foreign = notary.export(chained(foreign_game)).splitlines(keepends=True)
    mixed = check_export(b"".join([*own[:4], foreign[4], *own[5:]]))
    assert mixed.first_wrong is not None
    assert mixed.first_wrong.version == 5
    assert "another game" in mixed.first_wrong.detail
    head = check_export(b"".join([*own[:-1], foreign[-1]]))
    assert "another game" in _detail(head, "signature")


def _last(data: bytes) -> bytes:
    return data.splitlines(keepends=True)[-1]


OTHERS = {
    "nothing": (lambda lines: [], "empty"),
    "text": (lambda lines: [b"Dear Abbot,\n"], "no JSON"),
    "one array": (lambda lines: [b"[" + b",".join(lines) + b"]\n"], "no JSON"),
    "an array": (lambda lines: [b"[1]\n"], "no JSON object"),
    "a page": (lambda lines: [b'{"head":{},"items":[]}\n'], "lacks game_id"),
    "a mark": (lambda lines: [b"\xef\xbb\xbf", *lines], "byte order mark"),
    "empty line": (lambda lines: [lines[0], b"\n", *lines[1:]], "empty"),
    "blank": (lambda lines: [lines[0].replace(b":", b": ", 1), *lines[1:]], "canonical"),
    "blank end": (lambda lines: [lines[0][:-1] + b" \n", *lines[1:]], "canonical"),
    "tab": (lambda lines: [b"\t" + lines[0], *lines[1:]], "canonical"),
    "windows": (lambda lines: [line[:-1] + b"\r\n" for line in lines], "carriage return"),
    "one windows line": (lambda lines: [*lines[:2], lines[2][:-1] + b"\r\n"], "carriage return"),
    "old mac": (lambda lines: [line[:-1] + b"\r" for line in lines], "cut"),
    "order": (
        lambda lines: [json.dumps(dict(reversed(json.loads(lines[0]).items()))).encode() + b"\n"],
        "canonical",
    ),
    "escape": (lambda lines: [lines[0].replace(b"type", b"\\u0074ype", 1)], "canonical"),
    "twice": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":1,"version":1')],
        "'version' stands twice",
    ),
    "float": (lambda lines: [lines[0].replace(b'"version":1', b'"version":1.0')], "no integer"),
    "exponent": (lambda lines: [lines[0].replace(b'"version":1', b'"version":1e0')], "no integer"),
    "not a number": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":NaN')], "no integer"
    ),
    "minus nought": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":-0')], "canonical"
    ),
    "huge number": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":1' + b"0" * 9000)], "2^53"
    ),
    "true": (lambda lines: [lines[0].replace(b'"version":1', b'"version":true')], "another type"),
    "a name more": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":1,"x":2')], "does not belong"
    ),
    "not UTF-8": (lambda lines: [lines[0].replace(b"game.", b"game\xff")], "UTF-8"),
    "packed": (lambda lines: [gzip.compress(b"".join(lines), mtime=0) + b"\n"], "UTF-8"),
    "null": (lambda lines: [lines[0].replace(b'"version":1', b'"version":null')], "null"),
    "null within": (lambda lines: [lines[0].replace(b'"data":{', b'"data":{"a":[null],')], "null"),
    "half a pair": (lambda lines: [lines[0].replace(b"game.", b"\\ud800")], "UTF-8"),
    "odd name": (
        lambda lines: ['{"é":1}\n'.encode()], "not ASCII"
    ),
    "no hash": (
        lambda lines: [lines[0].replace(b'"hash":"', b'"hash":"A')], "hash is not 32 bytes"
    ),
    "no time": (lambda lines: [lines[0].replace(b"2026-11-30T", b"2026-11-31T")], "RFC 3339"),
    "by whom": (
        lambda lines: [lines[0].replace(b'"kind":"player"', b'"kind":"server"')], "by names nobody"
    ),
    "no seat": (
        lambda lines: [lines[0], lines[1].replace(b'"seat":0},"data"', b'"seat":-1},"data"')],
        "by names nobody",
    ),
    "more of by": (
        lambda lines: [lines[0].replace(b'"kind":"player"', b'"kind":"player","name":"x"')],
        "'name' of by",
    ),
    "no time of the head": (
        lambda lines: [*lines[:-1], lines[-1].replace(b'"at":"2026', b'"at":"0000')], "RFC 3339"
    ),
    "text after the head": (lambda lines: [*lines, b"Dear Abbot,\n"], "before the end"),
    "half a line after the head": (lambda lines: [*lines, b"{"], "before the end"),
    "deep": (lambda lines: [b"[" * 200_000 + b"]" * 200_000 + b"\n"], "deeper"),
    "deep object": (lambda lines: [b'{"a":' * 40 + b"1" + b"}" * 40 + b"\n"], "deeper"),
    "long": (lambda lines: [b'"' + b"a" * (2 << 20) + b'"\n'], "MiB"),
    "zeros": (lambda lines: [bytes(4096) + b"\n"], "no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_export_is_named_for_what_it_is(export: bytes, name: str) -> None:
    change, word = OTHERS[name]
    data = b"".join(change(export.splitlines(keepends=True)))
    with pytest.raises(BadExport) as caught:
        read(data)
    assert word in caught.value.reason
    report = check_export(data)
    assert not report.ok
    assert report.checks[0].check == "file"
    assert report.checks[0].ok is False
    assert all(check.ok is None for check in report.checks[1:])


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventstore.exports.LARGEST", 100)
    with pytest.raises(BadExport, match="MiB"):
        read(b"x" * 101)


def test_a_text_full_of_brackets_is_not_deep(record: list[Recorded], notary: Notary) -> None:
    """Brackets within strings are no levels."""
    odd = chained([replace(record[0], type='[{[{\\"' * 20), *record[1:3]])
    assert read(notary.export(odd)).events == odd


# -- receipts


def _move(record: list[Recorded]) -> Recorded:
    return next(e for e in record if e.by["kind"] == "player" and e.type.startswith("b"))


@pytest.fixture(scope="module")
def vallelujah(records: list[list[Recorded]]) -> list[Recorded]:
    return next(r for r in records if r[0].data["ruleset"] == "vallelujah")


def test_a_receipt_that_belongs(vallelujah: list[Recorded], notary: Notary) -> None:
    export = notary.export(vallelujah)
    receipt = notary.receipt(_move(vallelujah))
    assert check_export(export, receipts=[receipt], jwks=notary.jwks).ok
    assert _check(check_export(export, receipts=[receipt]), "receipt") is True


def test_a_receipt_proves_that_the_record_was_changed(
    vallelujah: list[Recorded], notary: Notary
) -> None:
    """The service itself writes another history, chained and signed as it should be."""
    move = _move(vallelujah)
    receipt = notary.receipt(move)
    later = chained([at(event, 1) for event in vallelujah])
    report = check_export(notary.export(later), receipts=[receipt], jwks=notary.jwks)
    assert _check(report, "signature") is True
    assert _check(report, "receipt") is False
    assert "changed since" in _detail(report, "receipt")
    assert report.checks[-1].version == move.version
    shorter = notary.receipt(vallelujah[-1], version=len(vallelujah) + 1)
    report = check_export(notary.export(vallelujah), receipts=[shorter], jwks=notary.jwks)
    assert "beyond its end" in _detail(report, "receipt")


def test_receipts_that_are_none(vallelujah: list[Recorded], notary: Notary) -> None:
    export, move = notary.export(vallelujah), _move(vallelujah)
    head = json.loads(_last(export))["jws"]
    for receipt, word in (
        ("", "no compact JWS"),
        (notary.receipt(move)[:-4], "it is no receipt"),
        (head, "something else"),
        (notary.receipt(move, version="7"), "something else"),
        (notary.receipt(move, game_id="x"), "another game"),
        (notary.receipt(move, player_id="x"), "changed since"),
        (Notary().receipt(move), "not among the trusted"),
    ):
        report = check_export(export, receipts=[receipt], jwks=notary.jwks)
        assert _check(report, "receipt") is False
        assert word in _detail(report, "receipt")


def test_another_signature_on_the_head(vallelujah: list[Recorded], notary: Notary) -> None:
    """One that is intact, of something else."""
    export = notary.export(vallelujah)
    head = json.loads(_last(export))
    body = export[: -len(_last(export))]
    early = "2026-01-01T00:00:00.000000Z"
    for name, value in (("version", 3), ("hash", "00" * 32), ("at", early), ("game_id", "x")):
        forged = body + canonical({**head, name: value}) + b"\n"
        assert "not of the head" in _detail(check_export(forged), "signature")
        said = {n: head[n] for n in ("game_id", "version", "hash", "at")} | {name: value}
        signed = body + canonical({**head, **said, "jws": notary.sign(said)}) + b"\n"
        assert _check(check_export(signed), "signature") is False


@pytest.mark.parametrize("seat", [None, 0])
def test_a_running_game(records: list[list[Recorded]], notary: Notary, seat: int | None) -> None:
    for record in records:
        dealt = next(i for i, event in enumerate(record) if event.type == "round.dealt")
        running = record[: (dealt + len(record)) // 2]
        report = check_export(notary.export(running, seat, over=False), jwks=notary.jwks)
        assert report.ok
        found = {check.check: check.ok for check in report.checks}
        assert found == {
            "file": True, "signature": True, "chain": None, "commitment": None, "shuffle": None,
            "legality": None, "deadlines": True, "result": None,
        }  # fmt: skip
