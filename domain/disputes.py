"""Disputes: what a seat claims, and what the record says to it.

A finding is computed from the record up to its newest event then, from what is claimed and from
nothing else; it can be computed again at any time, under the rules that the game pins. It says no
more than the seat that disputes may see, so it can be shown to it while the game runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .attempts import Attempt, deadline
from .audits import NEEDS_THE_END, told
from .events import Recorded
from .explaining import explain, wording
from .game import fold
from .redaction import Viewer, redact
from .refusals import TURN_EXPIRED, Refused
from .state import Game
from .verification import CHAIN, COMMITMENT, DEADLINES, LEGALITY, RESULT, SHUFFLE, Check, verify
from .views import view

OUTCOMES = UPHELD, DISMISSED, PENDING = "upheld", "dismissed", "pending"
"""Upheld means that the disputant is right; pending, that the end of the game will tell."""

CLAIMS = OF_LEGALITY, OF_TIME, OF_SHUFFLE, OF_RECORD = "legality", "time", "shuffle", "record"
"""What can be claimed: that a move was wrongly refused or wrongly recorded, that a deadline was
wrongly applied, that a shuffle was unfair, that the record was changed."""

OF_ATTEMPT = (OF_LEGALITY, OF_TIME)
"""What can be claimed of an attempt."""

_CHECKS = {
    OF_LEGALITY: (LEGALITY, RESULT),
    OF_TIME: (DEADLINES,),
    OF_SHUFFLE: (SHUFFLE, COMMITMENT),
    OF_RECORD: (CHAIN,),
}
_SHUFFLED = ("round.dealt", "pile.reshuffled", "cards.drawn")
_TIMED = ("turn.expired", "turn.extended", "seat.away")
_OF_THE_TABLE = ("game.created", "table.changed", "game.started")


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that the disputant shows: what it says, or, as `fault`, why it proves nothing."""

    payload: dict[str, Any] | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What the player in `seat` disputes: an event by its version, or an attempt of theirs."""

    seat: int
    kind: str
    version: int | None = None
    attempt: Attempt | None = None
    receipt: Receipt | None = None


def kind_of(event: Recorded) -> str:
    """What somebody who names no claim means by disputing `event`."""
    if event.type in _SHUFFLED:
        return OF_SHUFFLE
    if event.type in _TIMED:
        return OF_TIME
    if event.type in _OF_THE_TABLE or event.type.startswith("seat."):
        return OF_RECORD
    return OF_LEGALITY


def kind_of_attempt(attempt: Attempt) -> str:
    """The same of an attempt."""
    return OF_TIME if attempt.code == TURN_EXPIRED else OF_LEGALITY


def find(events: Sequence[Recorded], claim: Claim, secret: bytes) -> dict[str, Any]:
    """The finding on `claim` from a record with all its hidden parts and the game's secret."""
    record = _Record(events, claim, secret)
    verdict = _of_attempt(record) if claim.attempt is not None else _of_event(record)
    finding: dict[str, Any] = {"outcome": verdict.outcome, "claim": claim.kind}
    if verdict.rule is not None:
        finding["rule"] = verdict.rule
        said = wording(record.game, verdict.rule)
        if said is not None:
            finding["wording"] = said
    finding["reason"] = verdict.reason + record.besides(verdict)
    finding["evidence"] = record.evidence() | verdict.evidence
    return finding


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: str
    rule: str | None
    reason: str
    evidence: dict[str, Any]


class _Record:
    """The record that is looked at, and the position that a claim is about."""

    def __init__(self, events: Sequence[Recorded], claim: Claim, secret: bytes) -> None:
        self.events = events
        self.claim = claim
        self.secret = secret
        self.game = fold(events[0].game_id, events)
        self.over = self.game.over
        self.checks = verify(events, secret=secret)
        if claim.attempt is not None:
            before = claim.attempt.version
        else:
            assert claim.version is not None
            before = claim.version - 1
        self.before = fold(events[0].game_id, events[:before])

    @property
    def event(self) -> Recorded:
        assert self.claim.version is not None
        return self.events[self.claim.version - 1]

    def own(self, event: Recorded) -> bool:
        """Whether the details of `event` may be told to the disputant."""
        return self.over or event.by.get("seat") == self.claim.seat

    def failed(self, kind: str) -> Check | None:
        """The first check that `kind` is about and that fails, up to the disputed event."""
        for check in self.checks:
            if check.check in _CHECKS[kind] and check.ok is False and self._reached(check):
                return check
        return None

    def unmade(self, name: str) -> bool:
        """Whether the check `name` could not be made."""
        return any(check.check == name and check.ok is None for check in self.checks)

    def _reached(self, check: Check) -> bool:
        # A shuffle, a commitment or a hash is wrong for the whole record.
        if check.check in (CHAIN, *NEEDS_THE_END) or check.version is None:
            return True
        last = self.claim.version
        return last is None or check.version <= last

    def besides(self, verdict: _Verdict) -> str:
        """What else the record fails; a referee does not pass over it in silence."""
        if verdict.outcome == UPHELD:
            return ""
        names = [
            check.check
            for check in self.checks
            if check.ok is False and (self.over or check.check not in NEEDS_THE_END)
        ]
        return f" Besides, the record fails the checks {', '.join(names)}." if names else ""

    def evidence(self) -> dict[str, Any]:
        """What every finding shows."""
        seat = self.claim.seat
        head = self.events[-1]
        shown: dict[str, Any] = {
            "head": {"version": head.version, "hash": head.hash},
            "ruleset_version": self.game.ruleset_version,
            "checks": told(self.checks, everything=self.over),
        }
        if self.before.version:
            position = view(self.before, Viewer(seat))
            shown["legal_moves"] = position.get("you", {}).pop("legal_moves", [])
            shown["position"] = position
        if self.claim.attempt is not None:
            shown["attempt"] = _shown(self.claim.attempt)
        else:
            shown["event"] = redact(self.event, Viewer(seat), self.over)
        return shown


def _shown(attempt: Attempt) -> dict[str, Any]:
    members = {
        "attempt_id": attempt.attempt_id,
        "seat": attempt.seat,
        "player_id": attempt.player_id,
        "at": attempt.at,
        "version": attempt.version,
        "due_at": attempt.due_at,
        "move": attempt.move,
        "bound": attempt.bound,
        "code": attempt.code,
        "rule": attempt.rule,
        "detail": attempt.detail,
    }
    return {name: value for name, value in members.items() if value is not None}


def _of_attempt(record: _Record) -> _Verdict:
    attempt = record.claim.attempt
    assert attempt is not None
    if record.claim.kind == OF_TIME:
        return _attempt_in_time(record, attempt)
    return _attempt_legal(record, attempt)


def _attempt_legal(record: _Record, attempt: Attempt) -> _Verdict:
    try:
        said = explain(record.before, attempt.command())
    except Refused as refused:
        explanation = {
            "legal": False,
            "code": refused.code,
            "detail": str(refused.detail),
            "facts": {},
        }
        return _Verdict(DISMISSED, None, str(refused.detail), {"explanation": explanation})
    explanation = {"legal": said.legal, "detail": str(said.detail), "facts": said.facts}
    if said.code is not None:
        explanation["code"] = said.code
    if said.legal:
        reason = f"The move was legal in this position, and was refused. {said.detail}"
        return _Verdict(UPHELD, said.rule, reason, {"explanation": explanation})
    reason = f"The move was not to be accepted in this position. {said.detail}"
    return _Verdict(DISMISSED, said.rule, reason, {"explanation": explanation})


def _attempt_in_time(record: _Record, attempt: Attempt) -> _Verdict:
    rule = "table.turn-timer"
    due = deadline(
        record.before,
        record.events[: attempt.version],
        attempt.seat,
        attempt.code,
        replace(attempt.command(), touched=None),
    )
    clock = {"received_at": attempt.at}
    if attempt.code != TURN_EXPIRED or due is None:
        reason = "The move was not refused for coming too late."
        return _Verdict(DISMISSED, rule, reason, {"clock": clock})
    clock["due_at"] = due
    if attempt.at <= due:
        reason = f"The move was received at {attempt.at}, and the turn was due at {due}: in time."
        return _Verdict(UPHELD, rule, reason, {"clock": clock})
    reason = f"The move was received at {attempt.at}, after the turn was due at {due}."
    return _Verdict(DISMISSED, rule, reason, {"clock": clock})


def _of_event(record: _Record) -> _Verdict:
    return {
        OF_LEGALITY: _event_legal,
        OF_TIME: _event_in_time,
        OF_SHUFFLE: _shuffle_fair,
        OF_RECORD: _record_unchanged,
    }[record.claim.kind](record)


def _event_legal(record: _Record) -> _Verdict:
    event = record.event
    rule, evidence = _rule_of(record.before, event, record.own(event))
    wrong = record.failed(OF_LEGALITY)
    if wrong is None and record.unmade(LEGALITY):
        return _not_to_be_judged(record)
    if wrong is None:
        reason = f"Event {event.version}, {event.type}, is what the rules lead to there."
        if "explanation" in evidence:
            reason += f" {evidence['explanation']['detail']}"
        return _Verdict(DISMISSED, rule, reason, evidence)
    if wrong.version == event.version:
        reason = f"Event {event.version}, {event.type}, is not what the rules lead to there."
    else:
        reason = f"Event {wrong.version}, before it, is not what the rules lead to."
    return _Verdict(UPHELD, rule, reason, evidence)


def _not_to_be_judged(record: _Record) -> _Verdict:
    """A shuffle before it is wrong, so what came after it follows from nothing."""
    if not record.over:
        reason = "This cannot be judged before the game is over."
        return _Verdict(PENDING, None, reason, {})
    wrong = next(check for check in record.checks if check.ok is False)
    reason = f"The record fails the check {wrong.check}: nothing after it can be relied on."
    return _Verdict(UPHELD, None, reason, {})


def _rule_of(before: Game, event: Recorded, own: bool) -> tuple[str | None, dict[str, Any]]:
    """The rule that makes the move that `event` is legal, and why, if that may be told."""
    seat = event.by.get("seat")
    if seat is None or not before.round:
        return None, {}
    move = before.rules.move_of(event)
    if move is None:
        return None, {}
    try:
        said = before.rules.reason(before, seat, move)
    except Exception:
        return None, {}  # The event is no move that these rules could know.
    if not own:
        return said.rules[0], {}
    explanation = {"legal": True, "detail": str(said.detail), "facts": said.facts}
    return said.rules[0], {"explanation": explanation}


def _event_in_time(record: _Record) -> _Verdict:
    rule = "table.turn-timer"
    event, due = record.event, record.before.due_at
    if due is None:
        reason = "No turn ran whose time could have mattered."
        return _Verdict(DISMISSED, rule, reason, {"clock": {"recorded_at": event.at}})
    evidence = {"clock": {"recorded_at": event.at, "due_at": due}}
    wrong = record.failed(OF_TIME)
    compared = f"the turn was due at {due}, event {event.version} is of {event.at}"
    if wrong is not None:
        return _Verdict(
            UPHELD, rule, f"Event {wrong.version} breaks a deadline: {compared}.", evidence
        )
    return _Verdict(DISMISSED, rule, f"The deadline was kept: {compared}.", evidence)


def _shuffle_fair(record: _Record) -> _Verdict:
    rule = "table.shuffle"
    if not record.over:
        reason = (
            "What every shuffle follows from is published when the game is over; this is settled "
            "then."
        )
        return _Verdict(PENDING, rule, reason, {})
    game = record.game
    wrong = record.failed(OF_SHUFFLE)
    if not game.started and wrong is None:
        return _Verdict(DISMISSED, rule, "The table was closed before anything was shuffled.", {})
    evidence = {
        "shuffle": {"commitment": game.commitment, "seeds": game.seeds, "secret": game.secret or ""}
    }
    if wrong is not None:
        return _Verdict(UPHELD, rule, f"The check {wrong.check} fails: {wrong.detail}.", evidence)
    reason = (
        "The secret is the one that was committed to before any seat gave its seed, and every "
        "card lies where it and the seats' seeds put it."
    )
    return _Verdict(DISMISSED, rule, reason, evidence)


def _record_unchanged(record: _Record) -> _Verdict:
    event, receipt = record.event, record.claim.receipt
    evidence: dict[str, Any] = {}
    if receipt is not None:
        evidence["receipt"] = (
            {"fault": receipt.fault} if receipt.payload is None else receipt.payload
        )
    wrong = record.failed(OF_RECORD)
    if wrong is not None:
        reason = (
            f"The chain of hashes breaks at event {wrong.version}: that event or one before it "
            "was changed after it had been recorded."
        )
        return _Verdict(UPHELD, None, reason, evidence)
    kept = f"The chain of hashes holds from the first event to event {record.game.version}."
    if receipt is None:
        return _Verdict(DISMISSED, None, kept, evidence)
    if receipt.payload is None:
        reason = f"{kept} The receipt proves nothing: {receipt.fault}."
        return _Verdict(DISMISSED, None, reason, evidence)
    said = receipt.payload
    if said.get("game_id") != event.game_id or said.get("version") != event.version:
        reason = f"{kept} The receipt is not of event {event.version} of this game."
        return _Verdict(DISMISSED, None, reason, evidence)
    if (said.get("hash"), said.get("at")) == (event.hash, event.at):
        reason = f"{kept} Event {event.version} is still the one that the receipt is of."
        return _Verdict(DISMISSED, None, reason, evidence)
    reason = (
        f"The receipt, which this service signed, is of another event {event.version} than the "
        "record has: it was changed since."
    )
    return _Verdict(UPHELD, None, reason, evidence)
