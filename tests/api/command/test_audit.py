"""`./abbot audit` and `./abbot rebuild`, on a database of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.command import audit, rebuild
from domain.commands import Resign
from eventstore.checkpoints import Checkpoints
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.signing import Signer
from eventstore.standings import Standings
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table
from tests.eventstore.tampering import unguard

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def tables() -> list[Table]:
    """The games that there are."""
    return []


@pytest.fixture
def house(
    tables: list[Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scratch]:
    """A database with a few games, all signed."""
    monkeypatch.setenv("ABBOT_DATA", str(tmp_path))
    with scratch_database() as scratch, open_pool(scratch.app_url, 4) as pool:
        monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
        monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.owner_url)
        executor = Executor(Store(pool))
        tables += [open_table(executor) for _ in range(12)]
        player = tables[0].players[0]
        assert player is not None
        executor.execute(tables[0].game_id, Resign(player))
        assert Feed(pool).sequence() != (0, 0)
        assert Checkpoints(pool).write(Signer(pool, tmp_path / "keys"))
        while Standings(pool).step():
            pass
        yield scratch


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(command: Any, *arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = command.main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


def spoil(scratch: Scratch, table: Table) -> None:
    unguard(scratch)
    scratch.execute(
        "UPDATE events SET body = replace(body, 'seat', 'seet') WHERE game_id = %s AND version = 3",
        (table.game_id,),
    )


def test_all_is_right(house: Scratch, tables: list[Table], run: Run) -> None:
    code, text = run(audit, "--all", "--json", "--jobs", "2")
    report = json.loads(text)
    assert (code, report["ok"], report["games"], report["checkpoints"]) == (0, True, 12, 1)
    assert report["events"] == sum(table.game().version for table in tables)
    kept = report["newest_checkpoint"]
    code, text = run(audit, "--all", "--jobs", "1", "--checkpoint", kept)
    assert code == 0
    assert "all is right: 12 games" in text
    number, _, digest = kept.partition(":")
    other = f"{number}:{digest[::-1]}"
    code, text = run(audit, "--all", "--jobs", "1", "--checkpoint", other)
    assert code == 1
    assert f"WRONG  checkpoints: the checkpoint {other} is not there" in text
    assert "and 1 checkpoints in" in text
    code, text = run(audit, tables[3].game_id, "--checkpoint", other)
    assert code == 1
    assert f"WRONG  checkpoints  the checkpoint {other} is not there" in text
    code, text = run(audit, tables[3].game_id, "--checkpoint", kept)
    assert code == 0
    assert f"ok     checkpoints  the checkpoint {kept} is there" in text
    code, text = run(audit, tables[3].game_id)
    assert code == 0
    assert "is right" in text


def test_the_first_wrong_event_is_named(house: Scratch, tables: list[Table], run: Run) -> None:
    spoil(house, tables[5])
    code, text = run(audit, "--all", "--jobs", "2")
    assert code == 1
    assert f"WRONG  game {tables[5].game_id}: rows: event 3: the hash is not" in text
    code, text = run(audit, tables[5].game_id.upper())
    assert code == 1
    assert "WRONG  rows         event 3" in text
    code, text = run(audit, tables[5].game_id, "--json")
    checks = {check["check"]: check for check in json.loads(text)["checks"]}
    assert checks["rows"]["version"] == 3
    assert "ok" not in checks["legality"]


def test_a_game_that_is_gone_is_named(house: Scratch, tables: list[Table], run: Run) -> None:
    spoil(house, tables[5])
    for name in ("deadlines", "seats", "games", "events"):
        house.execute(f"DELETE FROM {name} WHERE game_id = %s", (tables[5].game_id,))
    code, text = run(audit, "--all", "--jobs", "1")
    assert code == 1
    assert f"game {tables[5].game_id} is gone" in text
    code, text = run(audit, tables[5].game_id)
    assert code == 1
    assert f"game {tables[5].game_id} is gone, which had event" in text
    assert "there is no game" in run(audit, uuid7())[1]


def test_one_game_is_held_against_what_was_signed_of_it(
    house: Scratch, tables: list[Table], run: Run, tmp_path: Path
) -> None:
    signed = tables[0].game().version
    with open_pool(house.app_url, 4) as pool:
        tables[1].make_move()
        assert Feed(pool).sequence() != (0, 0)
        assert Checkpoints(pool).write(Signer(pool, tmp_path / "keys"))
        unsigned = open_table(Executor(Store(pool))).game_id
    code, text = run(audit, tables[0].game_id)
    assert code == 0
    assert f"ok     checkpoints  event {signed} is the one that checkpoint 1 signed" in text
    code, text = run(audit, unsigned)
    assert code == 0
    assert "-      checkpoints  no checkpoint has signed an event of this game" in text
    unguard(house)
    house.execute(
        "DELETE FROM events WHERE game_id = %s AND version > %s", (tables[0].game_id, signed - 1)
    )
    code, text = run(rebuild, "summaries", "--json")
    report = json.loads(text)
    assert (code, report["corrected"], report["impossible"]) == (1, 0, 1)
    cut = f"is cut off after event {signed - 1} and had event {signed}, signed as "
    assert cut in report["corrections"][0]["wrong"][0]
    assert house.execute("SELECT status FROM games WHERE game_id = %s", (tables[0].game_id,)) == [
        ("finished",)
    ]
    code, text = run(audit, tables[0].game_id)
    assert code == 1
    assert f"WRONG  checkpoints  event {signed}: game {tables[0].game_id} {cut}" in text
    assert f"WRONG  summary      event {signed}: the summary tells of this event" in text
    assert "IS WRONG" in text
    assert run(audit, tables[1].game_id)[0] == 0
    house.execute("UPDATE checkpoints SET heads = '' WHERE number = 2")
    assert "checkpoint 2: what was signed is not" in run(audit, tables[0].game_id)[1]
    jwks = tmp_path / "jwks.json"
    jwks.write_text('{"keys": []}')
    assert "not among the trusted" in run(audit, tables[1].game_id, "--jwks", str(jwks))[1]


def test_only_named_keys_are_trusted(house: Scratch, run: Run, tmp_path: Path) -> None:
    jwks = tmp_path / "jwks.json"
    jwks.write_text('{"keys": []}')
    code, text = run(audit, "--all", "--jobs", "1", "--jwks", str(jwks))
    assert code == 1
    assert "not among the trusted" in text
    for text in ("[]", "[" * 100_000, '{"keys": [{"kty": "OKP", "crv": "Ed25519"}]}'):
        jwks.write_text(text)
        assert run(audit, "--all", "--jwks", str(jwks))[0] == 1
    assert run(audit, "--all", "--jwks", str(tmp_path / "none"))[0] == 1


@pytest.mark.parametrize(
    "arguments", [(), ("--all", "01a22cad-10fb-7014-bbf4-ff2bb423f608")], ids=["none", "both"]
)
def test_one_game_or_all(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(audit, *arguments)[0] == 2


@pytest.mark.parametrize("kept", ["abc", "1:00", "0:" + 64 * "a", "1:" + 64 * "g"])
@pytest.mark.parametrize("which", ["--all", "01a22cad-10fb-7014-bbf4-ff2bb423f608"])
def test_a_checkpoint_of_another_form_is_no_argument(
    which: str, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        audit.main([which, "--checkpoint", kept])
    assert ended.value.code == 2
    assert "NUMBER:HASH" in capsys.readouterr().err


def test_a_fault_of_the_feed_stands_in_a_line_of_its_own(
    house: Scratch, tables: list[Table], run: Run
) -> None:
    game_id, version = tables[4].game_id, tables[4].game().version
    ((positions,),) = house.execute("SELECT count(*) FROM feed")
    house.execute("UPDATE games SET version = version - 1 WHERE game_id = %s", (game_id,))
    code, text = run(audit, "--all", "--jobs", "1")
    assert code == 1
    assert (
        f"WRONG  feed: of game {game_id} {version} events have a position and 0 wait for one; by "
        f"its summary there are {version - 1}\n"
    ) in text
    assert f"abbot: 2 faults in 12 games with {positions} events, {positions} positions" in text
    assert "positions of the feed and 1 checkpoints in " in text


def test_without_a_database_nothing_is_made(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABBOT_DATA", str(tmp_path))
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    code, text = run(audit, "--all")
    assert code == 1
    assert "there is no database" in text
    assert not (tmp_path / "postgres").exists()


def test_summaries_are_corrected(house: Scratch, tables: list[Table], run: Run) -> None:
    house.execute("UPDATE games SET max_seats = 9; DELETE FROM deadlines")
    assert run(audit, "--all", "--jobs", "1")[0] == 1
    code, text = run(rebuild, "summaries", "--json")
    assert (code, json.loads(text)["corrected"]) == (0, 12)
    assert run(audit, "--all", "--jobs", "1")[0] == 0
    code, text = run(rebuild, "summaries")
    assert code == 0
    assert "12 games, 0 corrected" in text
    spoil(house, tables[1])
    code, text = run(rebuild, "summaries")
    assert code == 1
    assert f"CANNOT BE CORRECTED  game {tables[1].game_id}: event 3" in text


def test_standings_are_counted_anew(house: Scratch, run: Run) -> None:
    counted = "SELECT player_id, ruleset, played, won, resigned FROM standings ORDER BY player_id"
    before = house.execute(counted)
    assert len(before) == 2
    house.execute("UPDATE standings SET played = 77")
    code, text = run(rebuild, "standings")
    assert code == 0
    assert "events counted anew" in text
    assert house.execute(counted) == before
