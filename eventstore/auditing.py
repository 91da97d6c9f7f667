"""An audit: is what is stored what was recorded, and is what stands beside the record right?

A game's own record is checked by `domain.verification`; here the bytes in the database come before
it, and the rows that follow from a record after it. Everything about one game is read in one
snapshot, so that an audit can run while the games go on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, LiteralString, NamedTuple

import orjson
from psycopg import Cursor

from domain.events import Recorded
from domain.game import Game, differences, evolve, fold, fold_round, new_game
from domain.randomness import commitment
from domain.verification import CHECKS, LEGALITY, Check, verify

from . import sql_audit as sql
from . import summaries
from .database import Database, patiently
from .pool import Pool, Row
from .recorded import HASH_BYTES, ZERO_HASH, canonical, is_event

ROWS = "rows"
"""The stored bytes are the events' canonical JSON, in order, under the right hashes."""
SUMMARY = "summary"
"""The rows of `games` and `seats` say what the events lead to."""
DISPUTES = "disputes"
"""The stored bytes of the game's disputes are in order, under the right hashes."""
TIMERS = "timers"
"""The running turn, and no other, has its deadline."""
LOADING = "loading"
"""A load that begins at a round leads to the same position as one from the first event on."""
FEED = "feed"
"""Every event has its place in the feed, or waits for one."""

_FIRST_ID = "00000000-0000-0000-0000-000000000000"
_NOT_REACHED = "not looked at: the rows are wrong"


@dataclass(frozen=True, slots=True)
class Audited:
    """The checks of one game, and how many events it has."""

    game_id: str
    events: int
    checks: list[Check] = field(default_factory=list)

    @property
    def wrong(self) -> list[Check]:
        """The checks that failed, the one with the first wrong event first."""
        failed = [check for check in self.checks if check.ok is False]
        return sorted(failed, key=lambda check: check.version or 1 << 31)

    @property
    def unseen(self) -> bool:
        """Whether the game could not be looked at, as its month is detached from the record."""
        return any(check.check == ROWS and check.ok is None for check in self.checks)


@dataclass(frozen=True, slots=True)
class StoredGame:
    """All that is stored of one game, in one snapshot. `events` end before the first wrong row;
    there are none, and `rows` could not be checked, while the game is in the archive."""

    game_id: str
    secret: bytes | None
    summary: dict[str, Any] | None
    seats: list[dict[str, Any]]
    deadlines: list[dict[str, Any]]
    wrong_rematches: list[str]
    """What does not fit between the game and the one before it or after it."""
    rows: Check
    events: list[Recorded]
    count: int
    disputes: Check | None = None
    """None where nobody disputed anything."""

    def fold(self) -> Game | None:
        """The game that the events lead to; None if they lead nowhere, or to what no rows could
        be made of."""
        try:
            game = fold(self.game_id, self.events)
            summaries.summary(game, self.events)
            summaries.seats(game)
            summaries.deadlines(game)
        except Exception:
            return None  # Whatever it is, it lies in the events: nothing else is looked at.
        return game

    def wrong_summary(self, game: Game) -> list[str]:
        """What does not follow from the events in the rows of `games` and `seats`."""
        if self.summary is None or self.secret is None:
            return ["there is no summary"]
        expected = summaries.summary(game, self.events)
        secret_is_right = commitment(self.secret, self.game_id) == game.commitment
        return [
            *([] if secret_is_right else ["the secret is not the one that was committed to"]),
            *summaries.wrong_columns(self.summary, expected),
            *summaries.wrong_seats(self.seats, game),
            *self.wrong_rematches,
        ]

    @property
    def first_missing(self) -> int | None:
        """The version that follows the last event, if the summary tells of it."""
        told = None if self.summary is None else self.summary["version"]
        return self.count + 1 if told is not None and told > self.count else None

    def wrong_deadlines(self, game: Game) -> list[str]:
        """What does not follow from the events in the game's deadlines."""
        return list(summaries.wrong_deadlines(self.deadlines, game))


class Fed(NamedTuple):
    """The check of the feed, and how many positions it has."""

    check: Check
    positions: int


Run = Callable[[LiteralString, dict[str, Any]], list[Row]]


def read_game(run: Run, game_id: str) -> StoredGame | None:
    """All that is stored of a game, read by `run`; None if there is nothing."""
    row = run(sql.GAME, {"game_id": game_id})[0]
    secret, summary, seats, deadlines, versions, bodies, hashes, detached, rematches, *disputed = (
        row
    )
    if summary is None and versions is None:
        return None
    rows, events = check_rows(game_id, versions or [], bodies or [], hashes or b"")
    if detached is not None:
        why = f"its events are in {detached}, which is detached from the record"
        rows = Check(ROWS, None, why)
    disputes = None
    if disputed[0] is not None:
        disputes = replace(check_rows(game_id, *disputed)[0], check=DISPUTES)
    return StoredGame(
        game_id,
        secret,
        summary,
        seats or [],
        deadlines or [],
        rematches,
        rows,
        events,
        len(versions or ()),
        disputes,
    )


class Auditor:
    """Audits the games of one database. Raises Unavailable when that is away for a while."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)

    def count(self) -> tuple[int, int]:
        """How many games and events there are by the summaries."""
        games, events = self.database.run(sql.COUNT, {})[0]
        return int(games), int(events)

    def detached(self) -> list[str]:
        """The months that are not part of the record now, by name."""
        return [name for (name,) in self.database.run(sql.ARCHIVES, {})]

    def game_ids(self, page: int = 500) -> Iterator[str]:
        """Every game of which there is a summary or an event, in the order of ids."""
        after = _FIRST_ID
        while True:
            rows = self.database.run(sql.GAME_IDS, {"after": after, "limit": page})
            ids = [game_id for (game_id,) in rows]
            last = ids[-1] if len(ids) == page else "f" * 8 + "-ffff" * 3 + "-" + "f" * 12
            stray = self.database.run(sql.STRAY_IDS, {"after": after, "last": last})
            yield from sorted([*ids, *(game_id for (game_id,) in stray)])
            if len(ids) < page:
                return
            after = last

    def game(self, game_id: str) -> Audited | None:
        """Every check of one game; None if there is nothing of it."""
        stored = read_game(self.database.run, game_id)
        if stored is None:
            return None
        disputes = [] if stored.disputes is None else [stored.disputes]
        if not stored.rows.ok:
            why = stored.rows.detail if stored.rows.ok is None else _NOT_REACHED
            unmade = [Check(name, None, why) for name in (*CHECKS, LOADING, SUMMARY, TIMERS)]
            return Audited(game_id, stored.count, [stored.rows, *unmade, *disputes])
        checks = [stored.rows, *_verified(stored)]
        game = stored.fold()
        if game is None:
            why = "the record does not fold"
            checks += [
                Check(LOADING, None, why),
                Check(SUMMARY, False, why),
                Check(TIMERS, None, why),
            ]
        else:
            checks.append(check_loading(game_id, stored.events))
            checks.append(_check(SUMMARY, stored.wrong_summary(game), stored.first_missing))
            checks.append(_check(TIMERS, stored.wrong_deadlines(game)))
        return Audited(game_id, stored.count, [*checks, *disputes])

    def feed(self) -> Fed:
        """Positions without a gap, each game's events in order, and none left out."""

        def look() -> Fed:
            with self.database.connection() as connection, connection.transaction():
                connection.execute(sql.ONE_SNAPSHOT)
                connection.execute(sql.WITHOUT_LIMIT)
                cursor = connection.cursor()
                row = cursor.execute(sql.POSITIONS).fetchone()
                assert row is not None
                count, first, last = row
                whole = not count or (first, last) == (1, count)
                return Fed(_fed(cursor, count, whole=whole), count)

        return patiently(look)


def _fed(cursor: Cursor[Row], count: int, *, whole: bool) -> Check:
    """The check of the feed; its positions are `whole` where none between them is missing."""
    if not whole:
        hole = cursor.execute(sql.FIRST_HOLE).fetchone()
        return Check(FEED, False, f"a position before {hole and hole[0]} is missing")
    found = cursor.execute(sql.OUT_OF_ORDER).fetchone()
    if found is not None:
        position, game_id, version, earlier = found
        return Check(
            FEED,
            False,
            f"position {position} is event {version} of game {game_id}, which follows "
            f"its event {earlier}",
            version,
        )
    found = cursor.execute(sql.WAITING_OUT_OF_ORDER).fetchone()
    if found is not None:
        game_id, version, events, earlier = found
        return Check(
            FEED,
            False,
            f"of game {game_id} {events} events up to {version} wait, which do not "
            f"follow those up to {earlier}",
        )
    found = cursor.execute(sql.NOT_FED).fetchone()
    if found is not None:
        game_id, version, fed, waiting = found
        return Check(
            FEED,
            False,
            f"of game {game_id} {fed} events have a position and {waiting} wait for one; by its "
            f"summary there are {version}",
        )
    return Check(FEED, True, f"{count} positions")


def check_rows(
    game_id: str, versions: list[int], bodies: list[str], hashes: bytes
) -> tuple[Check, list[Recorded]]:
    """The events of all rows of a game, and whether each row is what was hashed."""
    events: list[Recorded] = []
    prev_hash = ZERO_HASH
    if not versions:
        return Check(ROWS, False, "there are no events", 1), events
    for index, (version, body) in enumerate(zip(versions, bodies, strict=True)):
        own = hashes[index * HASH_BYTES : (index + 1) * HASH_BYTES]
        if version != index + 1:
            return Check(ROWS, False, f"event {index + 1} is missing", index + 1), events
        text = body.encode()
        if hashlib.sha256(bytes.fromhex(prev_hash) + text).digest() != own:
            detail = "the hash is not that of the hash before and the stored text"
            return Check(ROWS, False, detail, version), events
        event = _event(game_id, version, text, prev_hash, own.hex())
        if event is None:
            detail = "the stored text is not the canonical JSON of this event"
            return Check(ROWS, False, detail, version), events
        events.append(event)
        prev_hash = event.hash
    return Check(ROWS, True, f"{len(events)} rows"), events


def check_loading(game_id: str, events: Sequence[Recorded]) -> Check:
    """Of each round of a record that folds: what is loaded for a game in that round, the lobby and
    the round itself, against the whole record up to there."""
    rounds = [event.version for event in events if event.type == "round.dealt"]
    began = next((event.version for event in events if event.type == "game.started"), 0)
    whole = new_game(game_id)
    for dealt, end in pairwise([*rounds, len(events) + 1]):
        for event in events[whole.version : end - 1]:
            evolve(whole, event)
        try:
            part = fold_round(game_id, [*events[:began], *events[dealt - 1 : end - 1]])
            wrong = differences(whole, part)
        except Exception:
            wrong = ["the round does not fold by itself"]
        if wrong:
            return Check(LOADING, False, f"from this event on: {', '.join(wrong)}", dealt)
    return Check(LOADING, True, f"{len(rounds)} rounds")


def _event(game_id: str, version: int, text: bytes, prev_hash: str, own: str) -> Recorded | None:
    try:
        members: dict[str, Any] = orjson.loads(text)
        event = Recorded(
            members.pop("game_id"),
            members.pop("version"),
            members.pop("type"),
            members.pop("at"),
            members.pop("by"),
            members.pop("data"),
            prev_hash,
            own,
        )
        whole = {
            "game_id": game_id,
            "version": version,
            "type": event.type,
            "at": event.at,
            "by": event.by,
            "data": event.data,
        }
        right = not members and is_event(whole) and canonical(whole) == text
        return event if right else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _check(name: str, wrong: list[str], version: int | None = None) -> Check:
    if version is not None:
        wrong = ["the summary tells of this event, which is not there", *wrong]
    return Check(name, not wrong, "; ".join(wrong), version)


def _verified(stored: StoredGame) -> list[Check]:
    """What follows from the record alone. An audit names what is wrong, whatever it meets: of a
    record that no check can cope with it says so, and goes on with the next game."""
    try:
        return verify(stored.events, secret=stored.secret)
    except Exception as error:
        why = f"the events say what no game's do ({type(error).__name__})"
        return [Check(name, False if name == LEGALITY else None, why) for name in CHECKS]
