"""What made-up requests find: players of each kind, and tables at each stage of their lives."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from api.command.client import Client
from tests.api.matches import Match, registered, with_scope
from tests.databases import Scratch

VARIABLE = "ABBOT_FUZZ_WORLD"
"""Where the world is told to the process that makes the requests up."""

STEWARDS = ("registerApp", "revokeApp", "changeScopes", "resolveDispute", "listLooks")
"""Operations that need an admin or an auditor."""

CLOCKED = ("advanceClock",)
"""Operations on games of the sandbox alone."""


@dataclass
class World:
    """Credentials, and ids that exist."""

    player: str = ""
    """A token that may play."""
    steward: str = ""
    """A token that may administrate and audit."""
    key: str = ""
    """An app's key."""
    acts_for: str = ""
    """A player of that app."""
    games: list[str] = field(default_factory=list)
    """Games of the player: lobbies, running ones and ones that are over."""
    over: list[str] = field(default_factory=list)
    """Games that are over and stay so, rematches aside."""
    values: dict[str, str] = field(default_factory=dict)
    """Values of other path parameters that exist."""
    of_app: dict[str, str] = field(default_factory=dict)
    """Those that differ where an app asks."""
    disputed: str = ""
    """The running game in which there is the dispute."""
    tester: str = ""
    """A token of the sandbox."""
    sandboxed: str = ""
    """A running game of the sandbox."""

    def value(self, path: str, name: str) -> str | None:
        """What there is for a parameter of a path; None where anything will do."""
        own = self.of_app if path.startswith("/v1/apps/me") else {}
        return own.get(name, self.values.get(name))

    def environment(self) -> dict[str, str]:
        """This world as environment variables for the process that uses it."""
        return {VARIABLE: json.dumps(asdict(self))}


@cache
def current() -> World:
    """The world that the environment tells of."""
    return World(**json.loads(os.environ[VARIABLE]))


def caller(world: World, operation: dict[str, Any]) -> str:
    """The token of whoever may call an operation of the document."""
    if operation["security"] == [{"appKey": []}]:
        return world.key
    if operation["operationId"] in CLOCKED:
        return world.tester
    return world.steward if operation["operationId"] in STEWARDS else world.player


def made(scratch: Scratch, port: int, each: int = 6) -> World:
    """A new world on a server: `each` tables of every stage."""
    url = f"http://127.0.0.1:{port}"
    world = World()
    host, guest, steward = (registered(url, name) for name in ("Fuzz", "Guest", "Steward"))
    for scope in ("admin", "audit"):
        with_scope(scratch, steward, scope)
    world.player, world.steward = str(host.token), str(steward.token)
    world.key = steward.post("/apps", {"name": "Fuzz"}).body["key"]
    app = Client(url, world.key)
    world.acts_for = app.post("/apps/me/players", {"name": "P"}).body["player_id"]
    for number in range(each):
        settings = {
            "ruleset": ("halleluja", "vallelujah")[number % 2],
            "visibility": ("public", "private")[number // 2 % 2],
        }
        lobby, running, over = (_table(port, host, guest, settings) for _ in "abc")
        running.start()
        over.start()
        for _ in range(number):
            running.move()
        over.move()
        over.end()
        world.games += [lobby.game_id, running.game_id, over.game_id]
        world.over.append(over.game_id)
    world.disputed = world.games[1]
    game = f"/games/{world.disputed}"
    dispute = host.post(f"{game}/disputes", {"version": 1, "statement": "So it is."}).body
    world.values = {
        "player_id": world.acts_for,
        "app_id": steward.post("/apps", {"name": "Spare"}).body["app_id"],
        "token_id": host.post("/me/tokens").body["token_id"],
        "dispute_id": dispute["dispute_id"],
        "code": host.post(f"{game}/invites").body["code"],
        **_webhook(host, "/me/webhooks"),
    }
    world.of_app = _webhook(app, "/apps/me/webhooks")
    testers = [_of_sandbox(url, name) for name in ("Test", "Rig")]
    match = _table(port, *testers, {"ruleset": "halleluja"})
    match.start()
    world.tester, world.sandboxed = str(testers[0].token), match.game_id
    for client in (host, guest, steward, app, *testers):
        client.close()
    return world


def _of_sandbox(url: str, name: str) -> Client:
    player = Client(url).post("/players", {"name": name, "sandbox": True}).body
    return Client(url, player["token"])


def _table(port: int, host: Client, guest: Client, settings: dict[str, str]) -> Match:
    """A table of two in the lobby."""
    match = Match(port, host.post("/games", settings).body["game_id"], [host, guest])
    guest.post(f"{match.path}/seats", match.invitation())
    return match


def _webhook(owner: Client, path: str) -> dict[str, str]:
    """The ids of a webhook and of a message to it."""
    made = owner.post(path, {"url": "https://127.0.0.1:2000/abbot"}).body["webhook_id"]
    ping = owner.post(f"{path}/{made}/ping").body
    return {"webhook_id": made, "delivery_id": ping["delivery_id"]}
