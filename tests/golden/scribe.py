"""The scribe plays a game on a table and writes down everything about it."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from domain.commands import BotMove, ComeBack, ExpireTurn, MakeMove, Resign
from domain.events import Recorded
from domain.game import fold, legal_moves, view
from domain.redaction import SPECTATOR, Viewer, redact
from domain.ruleset import Ruleset
from domain.times import to_micros
from tests.domain import naive
from tests.domain.positions import PLAYERS, Table, plain

from . import text

WIDTH = 96
HASHED = ("game_id", "version", "type", "at", "by", "data")
"""What an event's hash is over."""

Shows = Mapping[str, str]
"""Ids of rules (or `option.<name>`), and what the line that shows each of them says."""


class Scribe:
    """Plays a game on a table and writes it down."""

    def __init__(self, rules: Ruleset, title: str, about: str) -> None:
        self.rules = rules
        self.lines = [f"# {title}", *wrapped("# ", about)]
        self.table = Table()
        self.names = dict(zip(PLAYERS, text.NAMES, strict=True))
        self._known = {rule.id for rule in rules.rules}
        self._known |= {f"option.{option.name}" for option in rules.options}
        self._settings: dict[str, str] = {}
        self._steps = 0

    @property
    def game(self) -> Any:
        """The game as it stands."""
        return self.table.game

    @property
    def mover(self) -> int:
        """The seat to move."""
        assert self.game.turn is not None
        return int(self.game.turn.seat)

    # -- the beginning

    def set_up(self, table: Table, note: str = "", shows: Shows | None = None) -> None:
        """Start from `table`, however it came about; its record so far is written down."""
        if self.table.log:
            self._end_record()
            self.lines += ["", "", "# Another table"]
            self._settings = {}
        self.table = table
        with self._step("Set up", note, shows):
            self._write_events(table.log)
            self._write_state()

    # -- commands

    def do(self, command: Any, note: str = "", shows: Shows | None = None, *, after: float = 1.0,
           title: str = "") -> list[Recorded]:  # fmt: skip
        """Carry `command` out, `after` seconds from the last event."""
        asked = text.command(command, self.names)
        with self._step(title or asked, note, shows):
            events = self.table.do(command, after=after)
            if title:
                self._write("command", asked)
            if events:
                self._write("at", events[-1].at)
                self._write_events(events)
                self._write_state()
            else:
                self._write("events", "none: it is so already")
        return events

    def refuse(self, command: Any, note: str = "", shows: Shows | None = None) -> None:
        """Try `command`, which must be refused; it belongs to the step before it."""
        with self._step("", note, shows):
            self._write("tried", text.command(command, self.names))
            refused = self.table.refused(command)
            for each in text.refusal(refused):
                self.lines.append(each)
                if refused.rule and each.endswith(f"rule {refused.rule}"):
                    self.lines[-1] += f"  #[{refused.rule}]"

    def happened(self, type_: str, by: dict[str, Any], note: str = "", shows: Shows | None = None,
                 **data: Any) -> None:  # fmt: skip
        """Record what no command of the domain leads to."""
        with self._step(f"Recorded by the service: {type_}", note, shows):
            recorded = self.table.happened(type_, by, **data)
            self._write("at", recorded.at)
            self._write_events([recorded])
            self._write_state()

    def claim(self, statement: str, holds: bool, shows: Shows | None = None) -> None:
        """Write down a statement that the script has checked."""
        assert holds, statement
        with self._step("", "", shows):
            self._write("checked", statement)

    # -- short forms of commands

    def command(self, seat: int, type_: str, **more: Any) -> MakeMove:
        return self.table.command(seat, type_, **more)

    def move(self, seat: int, type_: str, *, note: str = "", shows: Shows | None = None,
             **more: Any) -> list[Recorded]:  # fmt: skip
        """The player in `seat` makes a move."""
        return self.do(self.command(seat, type_, **more), note, shows)

    def refuse_move(self, seat: int, type_: str, *, note: str = "", shows: Shows | None = None,
                    **more: Any) -> None:  # fmt: skip
        """The player in `seat` tries a move in vain."""
        self.refuse(self.command(seat, type_, **more), note, shows)

    def expire(self, note: str = "", shows: Shows | None = None) -> list[Recorded]:
        """The running turn's time runs out."""
        self.table.clock = to_micros(self.game.due_at) + 1
        turn = self.game.turn
        return self.do(ExpireTurn(self.game.round, turn.number), note, shows, after=0)

    def resign(self, seat: int, note: str = "", shows: Shows | None = None) -> list[Recorded]:
        return self.do(Resign(self.table.player(seat)), note, shows)

    def back(self, seat: int, note: str = "", shows: Shows | None = None) -> list[Recorded]:
        return self.do(ComeBack(self.table.player(seat)), note, shows)

    def play_some(self, note: str = "", shows: Shows | None = None) -> list[Recorded]:
        """The seat to move makes some legal move, with the call that is due. Which one follows
        from the version, so that a script plays the same game on every machine."""
        choices = legal_moves(self.game, self.mover)
        named = f"{self.game.ruleset}/{self.game.commitment}/{self.game.version}"
        pick = int.from_bytes(hashlib.sha256(named.encode()).digest()[:8], "big") % len(choices)
        move = self.rules.with_due_call(self.game, self.mover, choices[pick])
        player = self.game.seats[self.mover].player_id
        if player is None:
            asked: Any = BotMove(self.mover, move, self.game.round, self.game.turn.number)
        else:
            asked = MakeMove(player, move)
        return self.do(asked, note, shows)

    # -- writing

    def finish(self) -> str:
        """The whole text."""
        self._end_record()
        return "\n".join(self.lines) + "\n"

    def _end_record(self) -> None:
        assert plain(fold(self.game.game_id, self.table.log)) == plain(self.game)
        head = bytes(32)
        for event in self.table.log:
            body = {name: getattr(event, name) for name in HASHED}
            head = hashlib.sha256(head + naive.jcs(body)).digest()
        version = self.table.log[-1].version
        self.lines += ["", f"== The record so far ends with event {version}", f"hash {head.hex()}"]

    def _write(self, label: str, said: str) -> None:
        self.lines.append(text.line(label, said))

    def _write_events(self, events: Iterable[Recorded]) -> None:
        viewers: list[int | None] = [None, *range(self.rules.seats[1])]
        for event in events:
            seen = {seat: redact(event, Viewer(seat), False)["data"] for seat in viewers}
            first, *rest = text.event(event, seen)
            self.lines.append(self._named(f"{first}; by {text.by_whom(event.by, self.names)}"))
            self.lines += [self._named(each) for each in rest]

    def _named(self, said: str) -> str:
        for player, name in self.names.items():
            said = said.replace(player, name)
        return said

    def _write_state(self) -> None:
        everyone = view(self.game, SPECTATOR)
        current = text.settings(everyone)
        gone = [text.line("setting", f"{name} no longer") for name in self._settings
                if name not in current]  # fmt: skip
        changed = [said for name, said in current.items() if self._settings.get(name) != said]
        self.lines += gone + changed
        self._settings = current
        self.lines += text.state(everyone)
        for entry in everyone["seats"]:
            seat = entry["seat"]
            seen = view(self.game, Viewer(seat))
            own = seen.pop("you")
            assert own["seat"] == seat
            assert seen == everyone, f"seat {seat} sees more than its own part"
            self.lines.append(text.seat(entry, own, self.names))
            for listed in own.get("legal_moves", []):
                assert listed["move"]["round"] == self.game.round
                assert listed["move"]["turn"] == self.game.turn.number
                self.lines.append(text.line("", f"may {text.listed_move(listed)}"))
            count = len(legal_moves(self.game, seat))
            if count != len(own.get("legal_moves", [])):
                self.lines.append(text.line("", f"in all {count}, with every choice made"))

    @contextmanager
    def _step(self, title: str, note: str, shows: Shows | None) -> Iterator[None]:
        """The lines written inside are a step: its head before them, its tags on them."""
        start = len(self.lines)
        if title:
            self._steps += 1
            self.lines += ["", f"== {self._steps}. {self._named(title)}"]
        self.lines += wrapped("-- ", note)
        yield
        for id_, said in (shows or {}).items():
            self._tag(start, id_, said)

    def _tag(self, start: int, id_: str, said: str) -> None:
        """Mark the first line from `start` on that says what shows `id_`."""
        assert id_ in self._known, f"there is no {id_}"
        for number, each in enumerate(self.lines[start:], start):
            if said in each and not each.startswith(("==", "--")):
                self.lines[number] += f"  #[{id_}]"
                return
        written = "\n".join(self.lines[start:])
        raise AssertionError(f"no line shows {id_} by saying “{said}”:\n{written}")


def wrapped(mark: str, said: str) -> list[str]:
    """`said` in lines that begin with `mark`."""
    return textwrap.wrap(said, WIDTH, initial_indent=mark, subsequent_indent=mark)
