"""A whole match of each game for each count of seats, with legal moves taken at random.

Which moves are taken follows from the game's secret. A ruleset's secrets are those of short
matches; one that is not listed plays with secret 0.
"""

from __future__ import annotations

from domain.registry import RULESETS
from tests.domain.positions import started

from .playthrough import PLAYTHROUGHS, Playthrough, Script
from .scribe import Scribe

SHORT = {
    "halleluja": {2: 5, 3: 13, 4: 1},
    "vallelujah": {2: 17, 3: 17, 4: 8, 5: 24, 6: 6},
}
"""The last byte of the secret of a short match, by ruleset and count of seats."""


def _match(count: int, last_byte: int) -> Script:
    def match(play: Scribe) -> None:
        options = {"rounds_to_win": 2 if count == play.rules.seats[0] else 1}
        secret = bytes(31) + bytes([last_byte])
        play.set_up(started(play.rules.id, count, options=options, secret=secret))
        while not play.game.over:
            play.play_some()

    match.__doc__ = f"A whole match of {count}, random legal moves\n\nEvery due call is made."
    return match


for _rules in RULESETS.values():
    for _count in range(_rules.seats[0], _rules.seats[1] + 1):
        _secret = SHORT.get(_rules.id, {}).get(_count, 0)
        PLAYTHROUGHS.append(Playthrough(_rules, f"match-of-{_count}", _match(_count, _secret)))
