"""All checks of a record, one after another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..events import BY_SEAT, CATALOGUE, PUBLIC, Recorded
from ..randomness import commitment
from ..registry import get
from ..sandbox import secret_of
from ..state import Game
from .blind import BlindReplay
from .chain import check_chain
from .checks import CHECKS, COMMITMENT, DEADLINES, LEGALITY, RESULT, SHUFFLE, Check
from .replay import Replay, Wrong

_HEX = re.compile(r"[0-9a-f]{64}")
_ENDS = ("game.won", "game.drawn", "game.abandoned", "game.cancelled")


def verify(events: Sequence[Recorded], *, secret: bytes | None = None) -> list[Check]:
    """Every check of a game's record, from its first event on, in the order of `CHECKS`.

    A finished game publishes its secret itself; `secret` is for who knows that of a running one
    and has its full record. Parts that are hidden, as they are from players while a game runs, are
    told by `ok` None where they keep something from being checked; a finished game hides nothing.
    """
    if not events:
        return [Check(name, False if name == "chain" else None, "no events") for name in CHECKS]
    over = events[-1].type in _ENDS
    numbered = list(enumerate(events, 1))
    hidden = frozenset() if over else frozenset(n for n, event in numbered if _has_hidden(event))
    published = _published(events[-1]) if over else secret
    chain = check_chain(events, hidden)
    if any(event.version != number for number, event in numbered):
        # What is wrong is named by where it stands, whatever number it says it has.
        events = [replace(event, version=number) for number, event in numbered]
    committed = _check_commitment(events, published, over)
    if not _knows_rules(events[0]):
        name = events[0].data["ruleset_version"]
        unknown = f"the rules {name} are not known here"
        rest = [Check(each, None, unknown) for each in (SHUFFLE, LEGALITY, DEADLINES, RESULT)]
    elif (published is None or not committed.ok) and any(e.type == "game.started" for e in events):
        # A secret that was not committed to proves nothing.
        rest = _blind(events, hidden, over)
    else:
        rest = _decided_again(events, published)
    return [chain, committed, *rest]


def _knows_rules(first: Recorded) -> bool:
    """Whether the record's rules are registered; whatever is no name at all is looked at later."""
    name = first.data.get("ruleset_version")
    if not isinstance(name, str) or "/" not in name:
        return True
    try:
        return get(name).name == name
    except KeyError:
        return False


def hides(event: Recorded) -> list[str]:
    """The names of what `event` does not show, as it is hidden from whoever got it."""
    listed = CATALOGUE.get(event.type)
    if listed is None:
        return []
    missing = []
    for field in listed.fields:
        if field.visibility == PUBLIC or not field.required:
            continue
        value = event.data.get(field.name)
        if value is None:
            missing.append(field.name)
        elif field.visibility == BY_SEAT:
            shown = value if isinstance(value, dict) else {}
            active = event.data.get("active")
            seats = active if isinstance(active, list) else []
            if any(str(seat) not in shown for seat in seats):
                missing.append(field.name)
    return missing


def _has_hidden(event: Recorded) -> bool:
    return bool(hides(event))


def _published(last: Recorded) -> bytes | None:
    text = last.data.get("secret")
    if isinstance(text, str) and _HEX.fullmatch(text):
        return bytes.fromhex(text)
    return None


def _check_commitment(events: Sequence[Recorded], secret: bytes | None, over: bool) -> Check:
    committed = events[0].data.get("commitment")
    if not isinstance(committed, str):
        return Check(COMMITMENT, False, "the first event has no commitment", 1)
    if not _HEX.fullmatch(committed):
        return Check(COMMITMENT, False, "the commitment is not 32 bytes in lower-case hex", 1)
    last = events[-1]
    if secret is None:
        if last.type == "game.cancelled":
            return Check(COMMITMENT, None, "the table was closed before anything was shuffled")
        if over:
            return Check(COMMITMENT, False, "the end does not publish the secret", last.version)
        return Check(COMMITMENT, None, "the secret is published when the game is over")
    sandbox = events[0].data.get("sandbox")
    deal = sandbox.get("deal") if isinstance(sandbox, dict) else None
    if isinstance(deal, str) and secret != secret_of(deal):
        return Check(COMMITMENT, False, "the secret is not that of the deal's name", last.version)
    if commitment(secret, events[0].game_id) != committed:
        return Check(
            COMMITMENT, False, "the secret is not the one that was committed to", last.version
        )
    return Check(COMMITMENT, True, f"the secret is the one behind {committed}")


def _decided_again(events: Sequence[Recorded], secret: bytes | None) -> list[Check]:
    replay = Replay(events, secret)
    try:
        replay.run()
    except Wrong as wrong:
        return _stopped(wrong)
    seen, game = replay.seen, replay.game
    started = seen["game.started"] > 0
    deals = (
        f"the lot, {_counted(seen['round.dealt'], 'deal')}, "
        f"{_counted(seen['pile.reshuffled'], 'reshuffle')}, "
        f"{_counted(seen['picks'], 'automatic pick')} and {_counted(seen['salts'], 'salt')} "
        "follow from the secret and the seats' seeds"
    )
    played = (
        f"{_counted(seen['events'], 'event')}: what {_counted(seen['decisions'], 'decision')} "
        f"led to under {game.ruleset_version}"
    )
    times = f"{_counted(seen['times'], 'time')} against the turn's, {seen['turn.expired']} expired"
    return [
        Check(SHUFFLE, True, deals) if started else Check(SHUFFLE, None, "nothing was shuffled"),
        Check(LEGALITY, True, played),
        Check(DEADLINES, True, times),
        _result(game),
    ]


def _blind(events: Sequence[Recorded], hidden: frozenset[int], over: bool) -> list[Check]:
    replay = BlindReplay(events)
    try:
        replay.run()
    except Wrong as wrong:
        return _stopped(wrong)
    hiding = "1 event has" if len(hidden) == 1 else f"{len(hidden)} events have"
    parts = f"{hiding} hidden parts" if hidden else "the secret is not known"
    later = "is not known without the secret" if over else "can be checked once the game is over"
    return [
        Check(SHUFFLE, None, f"{parts}; whether it is right {later}"),
        Check(
            LEGALITY,
            None,
            "the table, whose turn it was and who did it are right; whether each move was legal "
            f"{later}",
        ),
        Check(DEADLINES, True, f"{_counted(replay.times, 'time')} against the turn's"),
        Check(RESULT, None, f"whether it is right {later}" if over else "the game is not over"),
    ]


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _stopped(wrong: Wrong) -> list[Check]:
    unmade = f"not looked at beyond event {wrong.version}"
    return [
        Check(name, False, wrong.detail, wrong.version)
        if name == wrong.check
        else Check(name, None, unmade)
        for name in (SHUFFLE, LEGALITY, DEADLINES, RESULT)
    ]


def _result(game: Game) -> Check:
    result = game.result
    if result is None:
        return Check(RESULT, None, "the game is not over")
    words = [str(result["outcome"])]
    if "winner" in result:
        words.append(f"by seat {result['winner']}")
    words.append(f"({result['reason']})")
    if "scores" in result:
        scores = ", ".join(f"{score} for seat {seat}" for seat, score in result["scores"].items())
        words.append(f"with {scores}")
    return Check(RESULT, True, " ".join(words))
