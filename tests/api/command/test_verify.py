"""`abbot verify`, as its callers use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from api.command import simulate, verify
from tests.domain.verification.records import finished
from tests.eventstore.exports import Notary

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export, the keys to it and a receipt, as files."""
    folder = tmp_path_factory.mktemp("verify")
    notary = Notary()
    record = min(finished(6), key=len)
    (folder / "game.ndjson").write_bytes(notary.export(record))
    (folder / "keys.json").write_text(json.dumps(notary.jwks))
    move = next(event for event in record if event.by["kind"] == "player")
    (folder / "receipt").write_text(notary.receipt(move) + "\n")
    return folder


def test_a_record_that_is_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys, receipt = str(folder / "keys.json"), str(folder / "receipt")
    file = str(folder / "game.ndjson")
    assert verify.main([file, "--keys", keys, "--receipt", receipt]) == 0
    out = capsys.readouterr().out
    assert "Everything is right." in out
    for check in ("file", "signature", "chain", "commitment", "shuffle", "legality", "deadlines",
                  "result", "receipt"):  # fmt: skip
        assert f"ok       {check} " in out
    text = (folder / "receipt").read_text().strip()
    assert verify.main([file, "--receipt", text]) == 0
    assert "could not be checked" in capsys.readouterr().out


def test_a_record_that_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (folder / "game.ndjson").read_bytes().splitlines(keepends=True)
    lines[6] = lines[6].replace(b'"version":7', b'"version":8')
    (folder / "wrong.ndjson").write_bytes(b"".join(lines))
    assert verify.main([str(folder / "wrong.ndjson")]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("First wrong: chain: event 7: version 8 stands where 7 belongs")


def test_an_answer_that_is_no_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for answer, told in (
        (
            {
                "type": "/problems/not-found",
                "status": 404,
                "code": "not-found",
                "detail": "No\x1b",
            },
            "this is no record: the server refused it (404: not-found: No\\x1b)",
        ),
        ({"items": []}, "this is a page of events, not an export"),
    ):
        (folder / "answer").write_text(json.dumps(answer))
        assert verify.main([str(folder / "answer")]) == 2
        assert told in capsys.readouterr().err
    for answer in ({"status": "active"}, {"status": 404}, [404], {"code": "x"}):
        (folder / "answer").write_text(json.dumps(answer))
        assert verify.main([str(folder / "answer")]) == 1
        assert "First wrong: file" in capsys.readouterr().out


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(folder / "game.ndjson"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["ok"] is True
    assert "first_wrong" not in shown
    assert [check["check"] for check in shown["checks"] if "ok" not in check] == ["signature"]
    assert verify.main([str(folder / "wrong.ndjson"), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["ok"] is False
    assert (shown["first_wrong"]["check"], shown["first_wrong"]["version"]) == ("chain", 7)


def test_a_cut_record_is_told_by_how_many_events_are_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (folder / "game.ndjson").read_bytes().splitlines(keepends=True)
    (folder / "cut.ndjson").write_bytes(b"".join([*lines[:6], *lines[7:]]))
    assert verify.main([str(folder / "cut.ndjson")]) == 1
    signed = len(lines) - 1
    assert f"{signed - 1} events where {signed} were signed" in capsys.readouterr().out


def test_a_page_of_events_is_no_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [json.loads(line) for line in (folder / "game.ndjson").read_bytes().splitlines()]
    page = {"items": events, "next_cursor": None}
    for indent in (None, 2):
        (folder / "page.json").write_text(json.dumps(page, indent=indent))
        assert verify.main([str(folder / "page.json")]) == 2
        assert "fetch it with `Accept: application/x-ndjson`" in capsys.readouterr().err
    for other in ("[" * 100_000, "{}", "[]", '{"items": 1}'):
        (folder / "page.json").write_text(other)
        assert verify.main([str(folder / "page.json")]) == 1


def test_what_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder / "game.ndjson")
    for arguments in (
        [str(folder / "missing")], [str(folder)], [file, "--keys", str(folder / "missing")],
        [file, "--keys", file], [file, "--keys", str(folder / "receipt")],
        [file, "--receipt", str(folder / "missing")],
    ):  # fmt: skip
        assert verify.main(arguments) == 2
        assert capsys.readouterr().err.startswith("abbot: ")


@pytest.mark.parametrize("x", ["", ', "x": 5', ', "x": "bad"', ', "x": "AAAA"'])
def test_keys_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str], x: str) -> None:
    (folder / "odd.json").write_text(f'{{"keys": [{{"kty": "OKP", "crv": "Ed25519"{x}}}]}}')
    assert verify.main([str(folder / "game.ndjson"), "--keys", str(folder / "odd.json")]) == 2
    assert "no JWKS" in capsys.readouterr().err


def test_no_terminal_is_told_what_to_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "game.ndjson").read_text().replace('"game.created"', '"\\u001b[2J"', 1)
    (folder / "odd.ndjson").write_text(text)
    assert verify.main([str(folder / "odd.ndjson")]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_saved_simulations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for ruleset in ("halleluja", "vallelujah"):
        folder = str(tmp_path / ruleset)
        arguments = [ruleset, "--games", "2", "--seed", "7", "--jobs", "1", "--save", folder]
        assert simulate.main(arguments) == 0
    files = list(tmp_path.glob("*/*.ndjson"))
    assert len(files) == 4
    capsys.readouterr()
    for file in files:
        assert verify.main([str(file)]) == 0
        assert "no signature" in capsys.readouterr().out


def test_it_needs_nothing_but_the_file(folder: Path) -> None:
    """No settings, no servers: the module is run by itself, from the standard input."""
    code = "import sys; from api.command import verify; sys.exit(verify.main(['-', '--json']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=(folder / "game.ndjson").read_bytes(),
        capture_output=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True
