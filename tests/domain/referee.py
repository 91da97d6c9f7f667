"""A second referee: both games once more, naively, to check the real one against.

It was written from the rules alone. It keeps lists and dicts, looks everything up by trying it,
and says for each move which events must follow, in which order, by whom and with what in them.
"""

from __future__ import annotations

import itertools
from typing import Any

from domain.times import from_micros, to_micros

from . import naive

WORLDLY = ("mau", "mau-mau")
PIOUS = ("amen", "halleluja")

Expected = tuple[str, dict[str, Any], dict[str, Any]]


class Referee:
    """What both games have in common. `players` has None for a computer player."""

    each = 0
    limit = 0
    whole_set: list[str] = []

    def __init__(
        self, *, game_id: str, secret: bytes, options: dict[str, Any],
        players: dict[int, str | None], seeds: dict[int, str], turn_seconds: int, version: int,
    ) -> None:  # fmt: skip
        self.game_id, self.secret, self.options = game_id, secret, options
        self.players, self.turn_seconds, self.version = players, turn_seconds, version
        self.seats = sorted(players)
        self.seeds = [seeds.get(seat, "") for seat in self.seats]
        self.active = list(self.seats)
        self.away: set[int] = set()
        self.expired = dict.fromkeys(self.seats, 0)
        self.scores = dict.fromkeys(self.seats, 0)
        self.round = self.voids = 0
        self.number = self.mover = 0
        self.ran_out = False
        self.over = False
        self.at = 0
        self.hands: dict[int, list[str]] = {}
        self.events: list[Expected] = []
        self._moves: tuple[int, list[dict[str, Any]]] = (-1, [])

    # -- each game's own part

    def first_of_round(self, lot: int | None) -> tuple[int, dict[str, Any]]:
        raise NotImplementedError

    def lay_out(self, undealt: list[str]) -> dict[str, Any]:
        raise NotImplementedError

    def find_moves(self) -> list[dict[str, Any]]:
        """Every fully specified move of the seat to move, in any order."""
        raise NotImplementedError

    def allows(self, seat: int, move: dict[str, Any]) -> bool:
        """Whether `seat` may make `move` now, with its call, or with what may be left out."""
        raise NotImplementedError

    def apply(self, seat: int, move: dict[str, Any]) -> None:
        raise NotImplementedError

    def with_call(self, move: dict[str, Any]) -> dict[str, Any]:
        return move

    def ends_in_place_of_turn(self, seat: int) -> bool:
        return False

    def moves(self) -> list[dict[str, Any]]:
        """The canonical list of the seat to move: by the bytes of each move's canonical JSON."""
        version, moves = self._moves
        if version != self.version:
            moves = sorted(self.find_moves(), key=naive.jcs)
            self._moves = self.version, moves
        return moves

    # -- words for the record

    def emit(self, type: str, by: dict[str, Any], **data: Any) -> None:
        self.version += 1
        self.events.append((type, by, {k: v for k, v in data.items() if v is not None}))

    def salt(self) -> str:
        return naive.salt(self.secret, self.version + 1)

    def clock(self, seat: int) -> dict[str, Any]:
        return {"kind": "clock", "seat": seat}

    def whose(self, seat: int) -> dict[str, Any]:
        player = self.players[seat]
        if player is None:
            return {"kind": "bot", "seat": seat}
        return {"kind": "player", "seat": seat, "player_id": player}

    def stream(self, purpose: str, n: int, round: int | None = None) -> Any:
        number = self.round if round is None else round
        key = naive.key(
            self.secret,
            self.game_id,
            purpose=purpose,
            round_number=number,
            n=n,
            seeds=self.seeds,
        )
        return naive.words(key)

    def tally(self) -> dict[str, int]:
        return {str(seat): self.scores[seat] for seat in self.seats}

    def next(self, seat: int) -> int:
        later = [other for other in self.active if other > seat]
        return later[0] if later else self.active[0]

    # -- commands; each gives the events that must follow

    def taken(self, at: str) -> None:
        """The events were recorded at `at`."""
        if any("turn" in data for _, _, data in self.events):
            self.at = to_micros(at)

    def due_at(self) -> str:
        pause = self.options["pause_seconds"] if self.number == 1 else 0
        return from_micros(self.at + (self.turn_seconds + pause) * 1_000_000)

    def start(self, host: int) -> list[Expected]:
        self.events = []
        self.by = self.whose(host)
        self.deal(naive.below(self.stream("lot", 0, round=0), len(self.seats)))
        return self.run_away()

    def move(self, seat: int, move: dict[str, Any]) -> list[Expected]:
        self.events = []
        self.by = self.whose(seat)
        self.apply(seat, move)
        return self.run_away()

    def expire(self) -> list[Expected]:
        self.events = []
        seat = self.mover
        self.by = self.clock(seat)
        self.emit("turn.expired", self.by, seat=seat, due_at=self.due_at())
        self.expired[seat] += 1
        self.ran_out = True
        if self.expired[seat] >= self.options["away_after"]:
            self.away.add(seat)
            self.emit("seat.away", self.by, seat=seat)
        if not self.abandoned():
            self.play_turn()
        return self.run_away()

    def back(self, seat: int) -> list[Expected]:
        self.events = []
        self.come_back(seat)
        return self.events

    def come_back(self, seat: int) -> None:
        if seat in self.away:
            self.away.discard(seat)
            self.expired[seat] = 0
            self.emit("seat.back", self.whose(seat), seat=seat)

    def resign(self, seat: int) -> list[Expected]:
        self.events = []
        self.by = self.whose(seat)
        after = self.next(seat)
        self.emit("seat.resigned", self.by, seat=seat)
        self.active.remove(seat)
        self.away.discard(seat)
        hand = self.hands.pop(seat)
        if len(self.active) == 1:
            self.win_match(self.active[0], "resignations")
        elif not self.abandoned():
            self.left_behind(hand)
            if self.mover == seat:
                self.begin(after)
        return self.run_away()

    def left_behind(self, hand: list[str]) -> None:
        pass

    # -- turns

    def begin(self, seat: int) -> None:
        """End the turn that ran; `seat` begins the next, unless the round ends instead."""
        if not self.ran_out and self.mover in self.expired:
            self.expired[self.mover] = 0
        if self.ends_in_place_of_turn(seat):
            self.end_round(None, "repetition")
        elif self.number + 1 > self.limit:
            fewest = min(len(self.hands[other]) for other in self.active)
            last = [other for other in self.active if len(self.hands[other]) == fewest]
            self.end_round(last[0] if len(last) == 1 else None, "limit")
        else:
            self.number += 1
            self.mover = seat
            self.ran_out = False
            self.events[-1][2]["turn"] = {"seat": seat, "number": self.number}
            self.turn_begun()

    def turn_begun(self) -> None:
        pass

    def play_turn(self) -> None:
        """Pick and play for the seat to move until its turn is over."""
        seat, turn = self.mover, (self.round, self.number)
        while not self.over and (self.round, self.number) == turn:
            moves = self.moves()
            pick = moves[naive.below(self.stream("auto-pick", self.version), len(moves))]
            self.apply(seat, self.with_call(pick))

    def run_away(self) -> list[Expected]:
        """Play the turns of seats that are away."""
        while not self.over and self.mover in self.away:
            self.by = self.clock(self.mover)
            self.play_turn()
        return self.events

    def abandoned(self) -> bool:
        present = [s for s in self.active if self.players[s] is not None and s not in self.away]
        if not present:
            self.over = True
            self.emit("game.abandoned", self.by, reason="no-players", secret=self.secret.hex())
        return self.over

    # -- rounds and the match

    def deal(self, lot: int | None = None) -> None:
        self.round += 1
        first, more = self.first_of_round(lot)
        hands, rest = naive.deal(
            self.stream("deal", 0), self.whole_set, self.active, first, self.each
        )
        self.hands = hands
        self.number, self.mover = 0, first
        self.ran_out = True  # no turn runs yet whose end could reset a count
        laid = self.lay_out(rest)
        self.emit(
            "round.dealt", self.by, round=self.round, first=first, scores=self.tally(),
            active=list(self.active), away=sorted(self.away),
            expired={str(seat): self.expired[seat] for seat in self.seats}, voids=self.voids,
            hands={str(seat): list(hands[seat]) for seat in self.active}, salt=self.salt(),
            **more, **laid,
        )  # fmt: skip
        self.begin(first)

    def end_round(self, winner: int | None, reason: str) -> None:
        if not self.ran_out and self.mover in self.expired:
            self.expired[self.mover] = 0
        if winner is not None:
            self.scores[winner] += 1
            self.voids = 0
            self.emit(
                "round.won", self.by, round=self.round, seat=winner, scores=self.tally(),
                reason=reason,
            )  # fmt: skip
            if self.scores[winner] >= self.options["rounds_to_win"]:
                return self.win_match(winner, "rounds")
        else:
            self.voids += 1
            self.emit("round.void", self.by, round=self.round, reason=reason)
            if self.voids == 3:
                most = max(self.scores[seat] for seat in self.active)
                best = [seat for seat in self.active if self.scores[seat] == most]
                if len(best) == 1:
                    return self.win_match(best[0], "void-rounds")
                self.over = True
                return self.emit(
                    "game.drawn", self.by, reason="void-rounds", secret=self.secret.hex()
                )
        return self.deal()

    def win_match(self, seat: int, reason: str) -> None:
        self.over = True
        self.emit(
            "game.won", self.by, seat=seat, scores=self.tally(), reason=reason,
            secret=self.secret.hex(),
        )  # fmt: skip


class Halleluja(Referee):
    each = 5
    limit = 500
    whole_set = naive.CARDS

    def first_of_round(self, lot: int | None) -> tuple[int, dict[str, Any]]:
        self.dealer = self.seats[lot] if lot is not None else self.next(self.dealer)
        return self.next(self.dealer), {"dealer": self.dealer}

    def lay_out(self, undealt: list[str]) -> dict[str, Any]:
        self.discards, self.pile = [undealt[0]], undealt[1:]
        self.wish: str | None = None
        self.pending = 0
        self.drawn: str | None = None
        self.words = dict.fromkeys(self.seats, 0)
        self.reshuffles = 0
        return {"turned_up": undealt[0], "undealt": list(self.pile)}

    # -- what may be played

    @property
    def top(self) -> str:
        return self.discards[-1]

    @property
    def symbol(self) -> str:
        return self.wish or self.top[2:]

    def fits(self, card: str) -> bool:
        return (
            card[0] == self.top[0]
            or card[2:] == self.symbol
            or (card[0] == "G" and self.options["mitre_wild"])
        )

    def playable(self) -> list[str]:
        if self.drawn:
            return [self.drawn]
        hand = self.hands[self.mover]
        if self.pending:
            return [card for card in hand if card[0] == "E"]
        return [card for card in hand if self.fits(card)]

    def find_moves(self) -> list[dict[str, Any]]:
        playable = self.playable()
        found: list[dict[str, Any]] = [{"type": "play", "card": card} for card in playable]
        found += [
            {"type": "play", "card": card, "wish": symbol}
            for card in playable
            if card[0] == "G"
            for symbol in naive.SYMBOLS
        ]
        if self.drawn:
            found.append({"type": "keep"})
        elif self.pending or not playable:
            found.append({"type": "draw"})
        return found

    def allows(self, seat: int, move: dict[str, Any]) -> bool:
        if self.over or seat not in self.active:
            return False
        if move["type"] == "exclaim":
            return move["word"] in WORLDLY and self.words[seat] < 3
        if seat != self.mover:
            return False
        call = move.get("call")
        if call is not None and move["type"] != "play":
            return False
        if call in WORLDLY and self.words[seat] >= 3:
            return False
        return {name: move[name] for name in move if name != "call"} in self.moves()

    def due(self, move: dict[str, Any]) -> str | None:
        if move["type"] != "play":
            return None
        return {2: "amen", 1: "halleluja"}.get(len(self.hands[self.mover]))

    def with_call(self, move: dict[str, Any]) -> dict[str, Any]:
        due = self.due(move)
        return {**move, "call": due} if due else move

    # -- what happens

    def apply(self, seat: int, move: dict[str, Any]) -> None:
        if move["type"] == "exclaim":
            self.come_back(seat)
            self.emit("word.exclaimed", self.by, seat=seat, word=move["word"])
            self.words[seat] += 1
            self.draw(seat, 3, "worldly-call")
            self.lapse()
        elif move["type"] == "play":
            self.play(seat, move["card"], move.get("wish"), move.get("call"))
        elif move["type"] == "keep":
            self.emit("card.kept", self.by, seat=seat)
            self.begin(self.next(seat))
        elif self.pending:
            self.draw(seat, self.pending, "annoyed")
            self.pending = 0
            if self.options["annoyed_ends_turn"]:
                self.begin(self.next(seat))
        else:
            got = self.draw(seat, 1, "no-match")
            if got and self.fits(got[0]):
                self.drawn = got[0]
            else:
                if not got:
                    self.emit("turn.passed", self.by, seat=seat)
                self.begin(self.next(seat))

    def play(self, seat: int, card: str, wish: str | None, call: str | None) -> None:
        hand = self.hands[seat]
        due = {2: "amen", 1: "halleluja"}.get(len(hand))
        hand.remove(card)
        self.discards.append(card)
        self.wish = wish
        faced, self.pending = self.pending, 0
        self.emit("card.played", self.by, seat=seat, card=card, wish=wish, call=call)
        if call in WORLDLY:
            self.words[seat] += 1
            self.draw(seat, 3, "worldly-call")
        elif due and call != due:
            self.draw(seat, 1, "forgotten-call")
        if not hand:
            return self.end_round(seat, "emptied")
        following = self.next(seat)
        if card[0] == "H":
            self.emit("turn.skipped", self.by, seat=following)
            return self.begin(self.next(following))
        if card[0] == "E" and self.options["annoyed_stacks"]:
            self.pending = faced + 2
        elif card[0] == "E":
            got = self.draw(following, 2, "annoyed")
            if self.options["annoyed_ends_turn"]:
                if not got:
                    self.emit("turn.passed", self.by, seat=following)
                return self.begin(self.next(following))
        return self.begin(following)

    def draw(self, seat: int, count: int, reason: str) -> list[str]:
        if len(self.pile) < count and len(self.discards) > 1:
            laid, self.discards = self.discards[:-1], self.discards[-1:]
            self.reshuffle(laid)
        got, self.pile = self.pile[:count], self.pile[count:]
        if got:
            self.hands[seat] += got
            self.emit(
                "cards.drawn", self.by, seat=seat, reason=reason, count=len(got), cards=got,
                salt=self.salt(),
            )  # fmt: skip
        return got

    def reshuffle(self, cards: list[str]) -> None:
        self.pile = self.pile + naive.shuffled(self.stream("reshuffle", self.reshuffles), cards)
        self.reshuffles += 1
        self.emit(
            "pile.reshuffled", self.by, count=len(self.pile), draw_pile=list(self.pile),
            salt=self.salt(),
        )  # fmt: skip

    def left_behind(self, hand: list[str]) -> None:
        if hand:
            self.reshuffle(sorted(hand, key=naive.CARDS.index))

    def lapse(self) -> None:
        if not self.pile and len(self.discards) == 1:
            self.pending = 0

    def begin(self, seat: int) -> None:
        if self.mover not in self.active:
            self.pending = 0
        self.drawn = None
        super().begin(seat)

    def turn_begun(self) -> None:
        self.lapse()


class Vallelujah(Referee):
    each = 9
    limit = 300
    whole_set = naive.UNITS

    def first_of_round(self, lot: int | None) -> tuple[int, dict[str, Any]]:
        self.leader = self.seats[lot] if lot is not None else self.next(self.leader)
        return self.leader, {}

    def lay_out(self, undealt: list[str]) -> dict[str, Any]:
        self.arena: list[str] = []
        self.positions: dict[Any, int] = {}
        return {"undealt": undealt}

    @staticmethod
    def is_battalion(units: Any) -> bool:
        return len({unit[:-2] for unit in units}) == 1 or len({unit[-1] for unit in units}) == 1

    @staticmethod
    def strength(units: Any) -> int:
        return int("".join(sorted((unit[-1] for unit in units), reverse=True)))

    def beats(self) -> list[list[str]]:
        hand, count = sorted(self.hands[self.mover]), len(self.arena)
        alike: dict[str, list[str]] = {}
        for unit in hand:
            alike.setdefault(unit[:-2], []).append(unit)
            alike.setdefault(unit[-1], []).append(unit)
        found = {
            units
            for group in alike.values()
            for size in (count, count + 1)
            for units in itertools.combinations(group, size)
        }
        return [list(u) for u in found if self.strength(u) > self.strength(self.arena)]

    def find_moves(self) -> list[dict[str, Any]]:
        hand = self.hands[self.mover]
        found: list[dict[str, Any]] = []
        if not self.arena:
            found = [{"type": "lead", "units": [unit]} for unit in hand]
            if self.options["lead_all"] and len(hand) > 1 and self.is_battalion(hand):
                found.append({"type": "lead", "units": sorted(hand)})
            return found
        for units in self.beats():
            if len(units) == len(hand) or len(self.arena) == 1:
                found.append({"type": "beat", "units": units})
            else:
                found += [{"type": "beat", "units": units, "take": unit} for unit in self.arena]
        if not found:
            found = [{"type": "take", "take": unit} for unit in self.arena]
        return found

    def allows(self, seat: int, move: dict[str, Any]) -> bool:
        if self.over or seat != self.mover:
            return False
        if "units" in move:
            move = {**move, "units": sorted(move["units"])}
        if len(self.arena) == 1:
            if move["type"] == "take" and "take" not in move:
                move = {**move, "take": self.arena[0]}
            winning = len(move.get("units", ())) == len(self.hands[self.mover])
            if move["type"] == "beat" and move.get("take") == self.arena[0] and not winning:
                move = {name: move[name] for name in ("type", "units")}
        return move in self.moves()

    def apply(self, seat: int, move: dict[str, Any]) -> None:
        hand = self.hands[seat]
        units = sorted(move.get("units", []))
        for unit in units:
            hand.remove(unit)
        if move["type"] == "lead":
            self.arena = units
            self.emit(
                "battalion.led", self.by, seat=seat, units=units, strength=self.strength(units)
            )
        else:
            captured = move.get("take", self.arena[0])
            won = move["type"] == "beat" and not hand
            discarded = sorted(unit for unit in self.arena if won or unit != captured)
            if move["type"] == "beat":
                self.emit(
                    "battalion.beaten", self.by, seat=seat, units=units,
                    strength=self.strength(units), captured=None if won else captured,
                    discarded=discarded,
                )  # fmt: skip
            else:
                self.emit(
                    "arena.taken", self.by, seat=seat, captured=captured, discarded=discarded
                )
            self.arena = units
            if not won:
                hand.append(captured)
        if not hand:
            return self.end_round(seat, "emptied")
        return self.begin(self.next(seat))

    def ends_in_place_of_turn(self, seat: int) -> bool:
        position = (
            frozenset((other, frozenset(self.hands[other])) for other in self.active),
            frozenset(self.arena),
            seat,
        )
        self.positions[position] = self.positions.get(position, 0) + 1
        return self.positions[position] == 3


REFEREES = {"halleluja": Halleluja, "vallelujah": Vallelujah}


def same(expected: Expected) -> Expected:
    """`expected` without what the rules leave open: the count of a seat that is away."""
    type, by, data = expected
    by = {name: by[name] for name in ("kind", "seat", "player_id") if name in by}
    if by["kind"] == "clock":
        by.pop("player_id", None)
    if type == "round.dealt":
        kept = {s: n for s, n in data["expired"].items() if int(s) not in data["away"]}
        kept = {s: n for s, n in kept.items() if int(s) in data["active"]}
        data = {**data, "expired": kept}
    return type, by, data
