"""A match over HTTP on a running server, move by move."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from api.command.client import Client
from tests.api.listening import Listener
from tests.databases import Scratch


def registered(url: str, name: str) -> Client:
    """A new player's client."""
    player = Client(url).post("/players", {"name": name}).body
    return Client(url, player["token"])


@dataclass
class Match:
    """A table on the server at `port`, and the client of each seat."""

    port: int
    game_id: str
    seats: list[Client]
    dice: random.Random = field(default_factory=lambda: random.Random(7))

    @classmethod
    def opened(
        cls, port: int, players: int = 2, ruleset: str = "halleluja", **settings: Any
    ) -> Match:
        """A table with its players seated, in the lobby."""
        seats = [registered(f"http://127.0.0.1:{port}", f"P{n}") for n in range(players)]
        settings = {"ruleset": ruleset, "turn_seconds": 3600, "max_seats": players, **settings}
        game_id = seats[0].post("/games", settings).body["game_id"]
        match = cls(port, game_id, seats)
        for player in seats[1:]:
            player.post(f"/games/{game_id}/seats", match.invitation())
        return match

    def invitation(self) -> dict[str, str]:
        """What a newcomer to a private table sends along."""
        if self.game()["visibility"] == "public":
            return {}
        return {"invite": self.seats[0].post(f"{self.path}/invites").body["code"]}

    @property
    def path(self) -> str:
        return f"/games/{self.game_id}"

    @property
    def url(self) -> str:
        return f"/v1{self.path}"

    def game(self, seat: int = 0) -> dict[str, Any]:
        """The game as a seat sees it."""
        seen: dict[str, Any] = self.seats[seat].get(self.path).body
        return seen

    def start(self) -> int:
        """Start it; the version then."""
        return int(self.seats[0].post(f"{self.path}/start").body["version"])

    def move(self) -> int:
        """Make a legal move, whoever's turn it is; the version after it."""
        turn = self.game()["turn"]["seat"]
        listed = self.seats[turn].get(f"{self.path}/legal-moves").body["legal_moves"]
        entry = self.dice.choice(listed)
        move = dict(entry["move"])
        if "take_from" in entry:
            move["take"] = self.dice.choice(entry["take_from"])
        if "call_due" in entry:
            move["call"] = entry["call_due"]
        made = self.seats[turn].post(f"{self.path}/moves", move).body
        return int(made["game"]["version"])

    def end(self) -> int:
        """Have all but one resign; the last version."""
        for seat in self.seats[1:]:
            seat.post(f"{self.path}/resign")
        return int(self.game()["version"])

    def listen(self, seat: int | None = None, **more: Any) -> Listener:
        """The stream as a seat reads it, or a spectator."""
        query = more.pop("query", "")
        token = more.pop("token", None if seat is None else self.seats[seat].token)
        return Listener(self.port, f"{self.url}/stream{query}", token, **more)

    def close(self) -> None:
        for seat in self.seats:
            seat.close()


def with_scope(scratch: Scratch, client: Client, scope: str) -> str:
    """Give the client's player a scope, as an operator can; the token's id."""
    me = client.get("/me").body
    scratch.execute(
        "UPDATE tokens SET scopes = scopes || %s WHERE token_id = %s", ([scope], me["token_id"])
    )
    return str(me["token_id"])
