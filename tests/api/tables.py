"""A table as its players know it, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.api.client import Client


@dataclass
class Table:
    """A game and the client of each seat."""

    url: str
    game_id: str
    clients: dict[int, Client] = field(default_factory=dict)

    @classmethod
    def opened(cls, host: Client, ruleset: str = "halleluja", **settings: Any) -> Table:
        """A table that `host` has opened."""
        answer = host.post("/v1/games", {"ruleset": ruleset, **settings}, expect=201)
        game_id = answer.get_json()["game_id"]
        return cls(f"/v1/games/{game_id}", game_id, {0: host})

    @property
    def host(self) -> Client:
        return self.clients[0]

    def start(self) -> None:
        self.host.post(f"{self.url}/start", expect=200)

    def game(self, client: Client | None = None) -> dict[str, Any]:
        """The game as the client, or the host, sees it."""
        seen: dict[str, Any] = (client or self.host).get(self.url, expect=200).get_json()
        return seen

    def mover(self) -> Client:
        """The client whose turn it is."""
        return self.clients[self.game()["turn"]["seat"]]

    def other(self) -> Client:
        """A client whose turn it is not."""
        seat = self.game()["turn"]["seat"]
        return next(client for number, client in self.clients.items() if number != seat)

    def choice(self) -> dict[str, Any]:
        """A legal move of the seat to move, complete."""
        listed = self.mover().get(f"{self.url}/legal-moves", expect=200).get_json()["legal_moves"]
        move: dict[str, Any] = dict(listed[0]["move"])
        if "take_from" in listed[0]:
            move["take"] = listed[0]["take_from"][0]
        if "call_due" in listed[0]:
            move["call"] = listed[0]["call_due"]
        return move

    def play_on(self, moves: int = 2000) -> dict[str, Any]:
        """Make legal moves until the match is over; the game then, as the host sees it."""
        for _ in range(moves):
            if self.game()["status"] != "active":
                return self.game()
            self.mover().post(f"{self.url}/moves", self.choice(), expect=201)
        raise AssertionError("the match does not end")
