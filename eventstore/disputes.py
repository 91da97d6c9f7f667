"""Disputes: an append-only stream of their own for each game, chained as the game's events are.

Types of its events, all `by` a player, an auditor or the clock:
- `dispute.filed {dispute_id, seat, claim, statement, version or attempt, receipt?, finding}`
- `dispute.settled {dispute_id, finding}`: what the end of the game told of a pending one
- `dispute.resolved {dispute_id, resolution}`: what an auditor says to it
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from domain import disputes as domain
from domain.attempts import Attempt
from domain.disputes import PENDING, Claim, Receipt
from domain.events import Event, Recorded
from domain.game import Game
from domain.refusals import FORBIDDEN, Refused, invalid
from domain.wording import Sentence

from . import chain, sql_disputes
from .attempts import Attempts
from .database import Fate, Pause, fate_of
from .errors import Archived, Broken, GameNotFound, KeyReused
from .executor import KEEP_KEYS
from .ids import uuid7
from .recorded import ZERO_HASH, from_bodies, parsed, rest
from .store import Idempotency, Loaded, Store

log = logging.getLogger(__name__)

MOST = 20
"""So many disputes can a seat file in a game."""

MOST_RESOLUTIONS = 20
"""So many resolutions can one dispute get."""

Check = Callable[[Game], None]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What an auditor says to a dispute."""

    at: str
    player_id: str
    resolution: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """A dispute as it stands. `finding` is the newest one."""

    game_id: str
    dispute_id: str
    at: str
    player_id: str
    seat: int
    claim: str
    statement: str
    version: int | None
    attempt: dict[str, Any] | None
    receipt: dict[str, Any] | None
    finding: dict[str, Any]
    settled_at: str | None = None
    resolutions: tuple[Resolution, ...] = ()

    @property
    def pending(self) -> bool:
        return bool(self.finding["outcome"] == PENDING)

    def until(self, at: str) -> Dispute:
        """The dispute without what was said to it after `at`."""
        return replace(self, resolutions=tuple(each for each in self.resolutions if each.at <= at))

    def claimed(self) -> Claim:
        """The claim, as a finding is computed on it."""
        return Claim(
            self.seat,
            self.claim,
            self.version,
            None if self.attempt is None else _attempt(self.attempt),
            None if self.receipt is None else Receipt(**self.receipt),
        )


@dataclass(frozen=True, slots=True)
class Filing:
    """What a player sends to dispute something; `claim` None for what such a dispute means."""

    player_id: str
    statement: str
    version: int | None = None
    attempt_id: str | None = None
    claim: str | None = None
    receipt: Receipt | None = None


class Disputes:
    """The disputes of all games."""

    def __init__(self, store: Store, attempts: Attempts) -> None:
        self.store = store
        self.database = store.database
        self.attempts = attempts

    def file(
        self,
        game_id: str,
        filing: Filing,
        *,
        check: Check,
        idempotency: Idempotency | None = None,
    ) -> tuple[Dispute, bool]:
        """Dispute something: the dispute with its finding, and whether it is new. The same again
        is the one that was filed before.

        `check` is given the game and raises what forbids it. Raises GameNotFound, KeyReused, and
        the domain's Refused for what cannot be disputed.
        """

        def build(loaded: Loaded, known: Sequence[Dispute]) -> Dispute | _Addition:
            seat = loaded.game.seat_of(filing.player_id)
            assert seat is not None
            events = self.store.events(game_id)
            claim = self._claim(events, filing, seat)
            filed = [dispute for dispute in known if dispute.player_id == filing.player_id]
            for dispute in filed:
                if _same(dispute, claim, filing.statement):
                    return dispute
            if len(filed) >= MOST:
                raise Refused(
                    FORBIDDEN, Sentence("A seat can file {most} disputes in a game.", most=MOST)
                )
            finding = domain.find(events, claim, loaded.secret)
            data = {"dispute_id": uuid7(), "seat": seat, "claim": claim.kind}
            data |= {"statement": filing.statement, "finding": finding}
            if claim.attempt is not None:
                data["attempt"] = finding["evidence"]["attempt"]
            else:
                data["version"] = claim.version
            if claim.receipt is not None:
                data["receipt"] = _given(claim.receipt)
            by = {"kind": "player", "seat": seat, "player_id": filing.player_id}
            return _Addition("dispute.filed", by, data, finding["outcome"] == PENDING)

        return self._add(game_id, build, check, idempotency)

    def resolve(
        self,
        game_id: str,
        dispute_id: str,
        player_id: str,
        resolution: str,
        *,
        check: Check,
        idempotency: Idempotency | None = None,
    ) -> tuple[Dispute, bool]:
        """Add what the auditor `player_id` says to a dispute; raises as `file` does, and
        KeyError for no such dispute."""

        def build(loaded: Loaded, known: Sequence[Dispute]) -> Dispute | _Addition:
            dispute = {each.dispute_id: each for each in known}[dispute_id]
            for each in dispute.resolutions:
                if (each.player_id, each.resolution) == (player_id, resolution):
                    return dispute
            if len(dispute.resolutions) >= MOST_RESOLUTIONS:
                most = MOST_RESOLUTIONS
                raise Refused(
                    FORBIDDEN, Sentence("A dispute can get {most} resolutions.", most=most)
                )
            by = {"kind": "auditor", "player_id": player_id}
            data = {"dispute_id": dispute_id, "resolution": resolution}
            return _Addition("dispute.resolved", by, data, dispute.pending)

        return self._add(game_id, build, check, idempotency)

    def of(self, loaded: Loaded) -> list[Dispute]:
        """The disputes of a game, the oldest first; what was pending is settled and recorded once
        the game is over."""
        game_id = loaded.game.game_id
        known = _folded(self.stream(game_id))
        if loaded.game.over and any(dispute.pending for dispute in known):
            for dispute in known:
                if dispute.pending:
                    self._settle(game_id, dispute.dispute_id)
            known = _folded(self.stream(game_id))
        return known

    def settle_waiting(self, limit: int) -> int:
        """Settle what the end of its game has made possible, in at most `limit` games; in how
        many there was something to settle."""
        waiting = self.database.run(sql_disputes.WAITING, {"limit": limit})
        for (game_id,) in waiting:
            try:
                loaded = self.store.load(game_id)
                if loaded is not None:
                    self.of(loaded)
            except (Archived, Broken) as error:
                log.error("The disputes of game %s cannot be settled: %s", game_id, error)
        return len(waiting)

    def computed_again(self, dispute: Dispute) -> dict[str, Any]:
        """The finding on `dispute` from the record that it was found on."""
        events = self.store.events(dispute.game_id)
        loaded = self.store.load(dispute.game_id)
        if loaded is None:
            raise GameNotFound
        head = dispute.finding["evidence"]["head"]["version"]
        return domain.find(events[:head], dispute.claimed(), loaded.secret)

    def stream(self, game_id: str) -> list[Recorded]:
        """The events of a game's disputes."""
        bodies, hashes = self.database.run(sql_disputes.EVENTS, {"game_id": game_id})[0]
        return [] if bodies is None else from_bodies(parsed(bodies), hashes, ZERO_HASH)

    def fault(self, game_id: str) -> chain.Fault | None:
        """The first event of a game's disputes that was changed, or None."""
        return chain.verify(self.stream(game_id), game_id=game_id)

    def _claim(self, events: Sequence[Recorded], filing: Filing, seat: int) -> Claim:
        if filing.attempt_id is not None:
            game_id = events[0].game_id
            attempt = self.attempts.get(game_id, filing.attempt_id)
            if attempt is None or attempt.player_id != filing.player_id:
                raise invalid("attempt_id", "There is no such attempt of yours.")
            kind = filing.claim or domain.kind_of_attempt(attempt)
            if kind not in domain.OF_ATTEMPT:
                raise invalid("claim", "Of an attempt it can be legality or time.")
            return Claim(seat, kind, attempt=attempt)
        assert filing.version is not None
        if not 1 <= filing.version <= len(events):
            raise invalid("version", "There is no such event.")
        event = events[filing.version - 1]
        kind = filing.claim or (
            domain.OF_RECORD if filing.receipt is not None else domain.kind_of(event)
        )
        if filing.receipt is not None and kind != domain.OF_RECORD:
            raise invalid("receipt", "It shows something only of the claim record.")
        return Claim(seat, kind, version=filing.version, receipt=filing.receipt)

    def _settle(self, game_id: str, dispute_id: str) -> None:
        def build(loaded: Loaded, known: Sequence[Dispute]) -> Dispute | _Addition:
            dispute = {each.dispute_id: each for each in known}[dispute_id]
            if not dispute.pending:
                return dispute
            events = self.store.events(game_id)
            finding = domain.find(events, dispute.claimed(), loaded.secret)
            data = {"dispute_id": dispute_id, "finding": finding}
            return _Addition("dispute.settled", {"kind": "clock"}, data, False)

        self._add(game_id, build, None, None)

    def _add(
        self,
        game_id: str,
        build: Callable[[Loaded, Sequence[Dispute]], Dispute | _Addition],
        check: Check | None,
        idempotency: Idempotency | None,
    ) -> tuple[Dispute, bool]:
        """Append what `build` makes of the game and its disputes, and return the dispute that it
        is about; nothing if that is one already. Again if somebody else was faster."""
        pause = Pause(8.0)
        while True:
            loaded = self.store.load(game_id, idempotency)
            if loaded is None:
                raise GameNotFound
            if check is not None:
                check(loaded.game)
            stream = self.stream(game_id)
            if idempotency is not None and (loaded.record or loaded.elsewhere):
                record = loaded.record
                if record is None or not record.answers(idempotency):
                    raise KeyReused
                return _about(stream, record.first), True
            addition = build(loaded, _folded(stream))
            if isinstance(addition, Dispute):
                return addition, False
            try:
                status, version = self._append(game_id, len(stream), addition, idempotency)
            except psycopg.Error as error:
                # What was stored is found by the key, or as the same dispute, when looking again.
                if fate_of(error) is Fate.BUG:
                    raise
                pause.rest(error)
                continue
            if status == "appended":
                return _about(self.stream(game_id), version), True
            if status == "reused":
                raise KeyReused
            pause.rest()

    def _append(
        self, game_id: str, version: int, addition: _Addition, idempotency: Idempotency | None
    ) -> tuple[str, int]:
        event = Event(version + 1, addition.type, addition.by, addition.data)
        parameters: dict[str, Any] = {
            "game_id": game_id,
            "version": version,
            "rest": rest(game_id, event).decode(),
            "dispute_id": addition.data["dispute_id"],
            "pending": addition.pending,
            "token_id": idempotency.token_id if idempotency else None,
            "key": idempotency.key if idempotency else None,
            "path": idempotency.path if idempotency else None,
            "body_hash": idempotency.body_hash if idempotency else None,
            "keep": KEEP_KEYS,
        }
        status, stored = self.database.once(sql_disputes.APPEND, parameters)[0]
        return status, stored


@dataclass(frozen=True, slots=True)
class _Addition:
    type: str
    by: dict[str, Any]
    data: dict[str, Any]
    pending: bool


def _about(stream: Sequence[Recorded], version: int) -> Dispute:
    """The dispute that the event `version` is about, as it stood after it."""
    dispute_id = stream[version - 1].data["dispute_id"]
    return next(each for each in _folded(stream[:version]) if each.dispute_id == dispute_id)


def _folded(stream: Sequence[Recorded]) -> list[Dispute]:
    known: dict[str, Dispute] = {}
    for event in stream:
        data = event.data
        dispute_id = data["dispute_id"]
        if event.type == "dispute.filed":
            known[dispute_id] = Dispute(
                event.game_id,
                dispute_id,
                event.at,
                event.by["player_id"],
                data["seat"],
                data["claim"],
                data["statement"],
                data.get("version"),
                data.get("attempt"),
                data.get("receipt"),
                data["finding"],
            )
        elif event.type == "dispute.settled":
            known[dispute_id] = replace(
                known[dispute_id], finding=data["finding"], settled_at=event.at
            )
        elif event.type == "dispute.resolved":
            said = Resolution(event.at, event.by["player_id"], data["resolution"])
            dispute = known[dispute_id]
            known[dispute_id] = replace(dispute, resolutions=(*dispute.resolutions, said))
        else:
            raise Broken(f"disputes of {event.game_id} hold an event {event.type}")
    return list(known.values())


def _same(dispute: Dispute, claim: Claim, statement: str) -> bool:
    attempt_id = None if claim.attempt is None else claim.attempt.attempt_id
    known_id = None if dispute.attempt is None else dispute.attempt["attempt_id"]
    receipt = None if claim.receipt is None else _given(claim.receipt)
    return (dispute.version, known_id, dispute.claim, dispute.statement, dispute.receipt) == (
        claim.version,
        attempt_id,
        claim.kind,
        statement,
        receipt,
    )


def _given(receipt: Receipt) -> dict[str, Any]:
    members = {"payload": receipt.payload, "fault": receipt.fault}
    return {name: value for name, value in members.items() if value is not None}


def _attempt(shown: dict[str, Any]) -> Attempt:
    return Attempt(**{"due_at": None, "rule": None, **shown})
