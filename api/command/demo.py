"""`./abbot demo`: one whole match of each game over HTTP, then its record checked.

Each seat has a client of its own, in its own thread, that knows no more than its token shows it.
One of them lets its time run out now and then. At the end the events are folded again, from the
public record and from the event store, and compared with what the API shows.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from api.command import narration
from api.command.client import Client
from api.command.console import CommandFailed
from domain.canonical import canonical
from domain.events import Recorded
from domain.game import Game, fold, view
from domain.redaction import SPECTATOR

TURN_SECONDS = 3
WAIT_SECONDS = 10
FORGETS_A_CALL = 0.15
NAMES = ("Ambrose", "Bede", "Clare", "Dunstan", "Edith", "Finnian")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays a game: how many clients, which bots, and when the dreamer dreams.

    `dreams` are the dreamer's turns, counted from 1 over the match, that run out. The dreamer is
    the second client.
    """

    ruleset: str
    clients: int
    bots: tuple[str, ...]
    options: Json
    dreams: frozenset[int]


CASTS = (
    Cast("halleluja", 3, ("greedy",), {"pause_seconds": 0}, frozenset({1})),
    Cast("vallelujah", 3, (), {"pause_seconds": 0}, frozenset({2, 5, 6})),
)


@dataclass(slots=True)
class Table:
    """A running match: where it is, who sits there, and what went wrong in any thread."""

    url: str
    game_id: str
    ends_by: float
    failures: list[BaseException] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def path(self) -> str:
        """Where the game is in the API."""
        return f"/games/{self.game_id}"

    def newer(self, client: Client, version: int, limit: int) -> list[Json]:
        """The next events after `version`, as the client may see them; none after a while."""
        page = client.get(f"{self.path}/events", after=version, limit=limit, wait=WAIT_SECONDS)
        items: list[Json] = page.body["items"]
        return items

    def check_time(self) -> None:
        """Raise CommandFailed once the match has taken too long."""
        if time.monotonic() > self.ends_by:
            raise CommandFailed(f"game {self.game_id} did not end in time")


class Seat:
    """A client with a seat: waits for its turn, chooses among what the API lists, moves."""

    def __init__(
        self, table: Table, client: Client, dice: random.Random, dreams: frozenset[int]
    ) -> None:
        self._table = table
        self._client = client
        self._dice = dice
        self._dreams = dreams
        self._turns = 0
        self._seen: tuple[int, int] | None = None

    def run(self) -> None:
        """Play until the game is over. Meant for a thread of its own."""
        try:
            while not self._table.stop.is_set():
                self._table.check_time()
                game = self._client.get(self._table.path).body
                if game["status"] != "active":
                    return
                if game["you"]["seat"] != game["turn"]["seat"]:
                    self._wait(game["version"])
                elif not self._dreaming(game):
                    self._move(game)
        except BaseException as error:
            self._table.failures.append(error)
            self._table.stop.set()
        finally:
            self._client.close()

    def _wait(self, version: int) -> None:
        self._table.newer(self._client, version, limit=1)

    def _dreaming(self, game: Json) -> bool:
        turn = (game["round"]["number"], game["turn"]["number"])
        if turn != self._seen:
            self._seen = turn
            self._turns += 1
        own = next(seat for seat in game["seats"] if seat["seat"] == game["you"]["seat"])
        if own["status"] == "away" or self._turns not in self._dreams:
            return False
        self._wait(game["version"])
        if self._is_away():
            self._client.post(f"{self._table.path}/back")
        return True

    def _is_away(self) -> bool:
        game = self._client.get(self._table.path).body
        seats = {seat["seat"]: seat["status"] for seat in game["seats"]}
        return game["status"] == "active" and seats[game["you"]["seat"]] == "away"

    def _move(self, game: Json) -> None:
        move = chosen(game["you"]["legal_moves"], self._dice)
        answer = self._client.try_post(f"{self._table.path}/moves", move)
        if answer.status not in {201, 409}:
            raise CommandFailed(f"the move {move} was answered {answer.status} {answer.code}")


def chosen(listed: list[Json], dice: random.Random) -> Json:
    """A move from what the API lists: as many cards as possible go, else by the dice."""
    most = max(len(entry["move"].get("units", ())) for entry in listed)
    entry = dice.choice([e for e in listed if len(e["move"].get("units", ())) == most])
    move = dict(entry["move"])
    if "take_from" in entry:
        move["take"] = dice.choice(entry["take_from"])
    if "wish_from" in entry and dice.random() < 0.7:
        move["wish"] = dice.choice(entry["wish_from"])
    if "call_due" in entry and dice.random() >= FORGETS_A_CALL:
        move["call"] = entry["call_due"]
    return move


def open_table(
    url: str, cast: Cast, dice: random.Random, seconds: float
) -> tuple[Table, list[Seat]]:
    """Sign the players up, seat them and the bots, and start the match."""
    clients = [_signed_up(url, name) for name in NAMES[: cast.clients]]
    host = clients[0]
    settings = {
        "ruleset": cast.ruleset,
        "options": cast.options,
        "turn_seconds": TURN_SECONDS,
        "max_seats": cast.clients + len(cast.bots),
    }
    game = host.post("/games", settings).body
    table = Table(url, game["game_id"], time.monotonic() + seconds)
    for client in clients[1:]:
        client.post(f"{table.path}/seats", {"client_seed": dice.randbytes(8).hex()})
    for bot in cast.bots:
        host.post(f"{table.path}/seats", {"bot": bot})
    host.post(f"{table.path}/start")
    dreams = [cast.dreams if number == 1 else frozenset() for number in range(cast.clients)]
    seats = [
        Seat(table, client, random.Random(dice.random()), dream)
        for client, dream in zip(clients, dreams, strict=True)
    ]
    return table, seats


def _signed_up(url: str, name: str) -> Client:
    player = Client(url).post("/players", {"name": name}).body
    return Client(url, player["token"])


def narrate(table: Table, watcher: Client, say: Callable[[str], None]) -> None:
    """Tell every event, as a spectator sees it, until the last one."""
    game = watcher.get(table.path).body
    names = {seat["seat"]: _called(seat) for seat in game["seats"]}
    version = 0
    while not table.stop.is_set():
        table.check_time()
        for event in table.newer(watcher, version, limit=100):
            say(narration.line(event, lambda seat: names.get(seat, f"Seat {seat}")))
            version = event["version"]
            if event["type"] in {"game.won", "game.drawn", "game.abandoned", "game.cancelled"}:
                return


def _called(seat: Json) -> str:
    if "player" in seat:
        return str(seat["player"]["name"])
    return f"the {seat['bot']} bot"


def play(
    url: str, cast: Cast, dice: random.Random, seconds: float, say: Callable[[str], None]
) -> str:
    """Play one match to its end; the game's id."""
    table, seats = open_table(url, cast, dice, seconds)
    threads = [threading.Thread(target=seat.run, daemon=True) for seat in seats]
    for thread in threads:
        thread.start()
    watcher = Client(url)
    try:
        narrate(table, watcher, say)
    finally:
        table.stop.set()
        watcher.close()
    for thread in threads:
        thread.join(WAIT_SECONDS + 5)
    if table.failures:
        raise table.failures[0]
    return table.game_id


def recorded(line: Json) -> Recorded:
    """An event of the public record as the domain folds it."""
    return Recorded(**{name: line[name] for name in Recorded.__slots__})


def check_chain(events: list[Recorded]) -> None:
    """Raise CommandFailed unless each hash is that of its event after the one before."""
    before = "00" * 32
    for number, event in enumerate(events, 1):
        body = {
            name: getattr(event, name)
            for name in ("game_id", "version", "type", "at", "by", "data")
        }
        digest = hashlib.sha256(bytes.fromhex(before) + canonical(body)).hexdigest()
        if (event.version, event.prev_hash, event.hash) != (number, before, digest):
            raise CommandFailed(f"event {event.version} does not continue the chain")
        before = digest


def differences(shown: Json, events: list[Recorded]) -> list[str]:
    """The fields in which the game that the API shows is not the fold of these events."""
    folded = as_shown(fold(shown["game_id"], events), events[-1])
    return [
        name
        for name in sorted(shown.keys() | folded.keys())
        if _without_names(name, shown.get(name)) != folded.get(name)
    ]


def as_shown(game: Game, last: Recorded) -> Json:
    """The folded game in the API's shape, but for players' names."""
    return {**view(game, SPECTATOR), "head": {"version": last.version, "hash": last.hash}}


def _without_names(name: str, value: Any) -> Any:
    if name != "seats":
        return value
    return [
        {**seat, "player": {"player_id": seat["player"]["player_id"]}} if "player" in seat else seat
        for seat in value
    ]


def check(url: str, game_id: str, say: Callable[[str], None]) -> Json:
    """Fold the match again, from the record and from the store; the game as the API shows it."""
    watcher = Client(url)
    shown: Json = watcher.get(f"/games/{game_id}").body
    lines = watcher.history(f"/games/{game_id}/events")
    watcher.close()
    public = [recorded(line) for line in lines if "data" in line]
    check_chain(public)
    commitment = hashlib.sha256(bytes.fromhex(shown["shuffle"]["secret"]) + game_id.encode())
    if commitment.hexdigest() != shown["shuffle"]["commitment"]:
        raise CommandFailed("the secret is not the one that was committed to")
    _compare("the public record", shown, public, say)
    stored = _stored(game_id)
    if stored is None:
        say("The event store was not looked at: no ABBOT_DATABASE_URL is set.")
    elif stored != public:
        raise CommandFailed("the event store and the public record differ")
    else:
        _compare("the event store", shown, stored, say)
    return shown


def _compare(source: str, shown: Json, events: list[Recorded], say: Callable[[str], None]) -> None:
    differing = differences(shown, events)
    if differing:
        raise CommandFailed(f"folded from {source} the game differs in {', '.join(differing)}")
    say(
        f"Folded again from {source}: {len(events)} events, chain intact, "
        f"equal to the API in all {len(shown)} fields."
    )


def _stored(game_id: str) -> list[Recorded] | None:
    url = os.environ.get("ABBOT_DATABASE_URL")
    if not url:
        return None
    from eventstore.pool import open_pool
    from eventstore.store import Store

    with open_pool(url, size=1) as pool:
        return list(Store(pool).events(game_id))


def outcome(shown: Json) -> str:
    """How a match ended, in one line."""
    result = shown["result"]
    names = {seat["seat"]: _called(seat) for seat in shown["seats"]}
    scores = ", ".join(f"{names[int(seat)]} {won}" for seat, won in result["scores"].items())
    who = names[result["winner"]] if "winner" in result else "nobody"
    return (
        f"{shown['ruleset']}: {result['outcome']} by {who} ({result['reason']}; {scores}), "
        f"{shown['version']} events"
    )


def _arguments(argv: Iterable[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./abbot demo", description=(__doc__ or "").split("\n")[0]
    )
    port = os.environ.get("ABBOT_PORT", "8000")
    parser.add_argument("--url", default=f"http://127.0.0.1:{port}", help="the running server")
    parser.add_argument(
        "--ruleset", choices=[cast.ruleset for cast in CASTS], help="only this game"
    )
    parser.add_argument("--seed", type=int, help="seed of the clients' dice")
    parser.add_argument("--seconds", type=float, default=120, help="longest time for one match")
    return parser.parse_args(list(argv))


def main(argv: list[str]) -> int:
    """Run the demo; 0 when both matches ended and their records agree with the API."""
    arguments = _arguments(argv)
    dice = random.Random(arguments.seed)
    ends: list[str] = []
    try:
        for cast in CASTS:
            if arguments.ruleset in {None, cast.ruleset}:
                print(f"\n== {cast.ruleset} ==", flush=True)
                game_id = play(arguments.url, cast, dice, arguments.seconds, _say)
                ends.append(outcome(check(arguments.url, game_id, _say)))
    except CommandFailed as error:
        print(f"abbot demo: {error}", file=sys.stderr)
        return 1
    print("\n" + "\n".join(ends))
    return 0


def _say(text: str) -> None:
    print(text, flush=True)
