"""What a player needs, on top of the generated operations."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from uuid import UUID

import httpx

from .generated import AuthenticatedClient, Client, models
from .generated.api.clock import advance_clock
from .generated.api.events import list_events
from .generated.api.games import create_game, get_game, list_games
from .generated.api.play import come_back, make_move, rematch, resign, start_game
from .generated.api.players import register_player
from .generated.api.seats import take_seat
from .generated.types import UNSET, Response, Unset
from .problems import error_of
from .streams import messages
from .transport import AGAIN, STREAM, PatientTransport, asked_pause, pauses

GameEvent = (
    models.GameCreatedEvent
    | models.SeatTakenEvent
    | models.SeatSeededEvent
    | models.SeatReadyEvent
    | models.SeatLeftEvent
    | models.TableChangedEvent
    | models.GameStartedEvent
    | models.RoundDealtEvent
    | models.RoundWonEvent
    | models.RoundVoidEvent
    | models.TurnExpiredEvent
    | models.TurnExtendedEvent
    | models.ClockAdvancedEvent
    | models.SeatAwayEvent
    | models.SeatBackEvent
    | models.SeatResignedEvent
    | models.CardPlayedEvent
    | models.CardsDrawnEvent
    | models.CardKeptEvent
    | models.TurnSkippedEvent
    | models.TurnPassedEvent
    | models.WordExclaimedEvent
    | models.PileReshuffledEvent
    | models.BattalionLedEvent
    | models.BattalionBeatenEvent
    | models.ArenaTakenEvent
    | models.GameWonEvent
    | models.GameDrawnEvent
    | models.GameAbandonedEvent
    | models.GameCancelledEvent
    | models.OtherEvent
)
"""Any event; `OtherEvent` is one of a type that is newer than this package."""

Kind = TypeVar("Kind")

WAIT = 30
"""Seconds that one request waits for something to happen."""
SILENCE = 45.0
"""Seconds without a byte after which a stream is broken: a quiet one sends a comment every 15."""
LONGEST_PAUSE = 60.0
OPEN = ("lobby", "active")


@dataclass(frozen=True)
class Turn:
    """A moment at which the player may move: the game, and what may be played. Never empty."""

    game: models.Game
    legal_moves: list[models.LegalMove]


def new_key() -> str:
    """A new `Idempotency-Key`."""
    return str(uuid.uuid4())


def filled(
    entry: models.LegalMove, *, wish: str | None = None, take: str | None = None
) -> models.Move:
    """The move of a legal move's entry, with the word that is due, and with `wish` and `take`, or
    the first unit to take where one has to be named."""
    move = models.Move.from_dict(entry.move.to_dict())
    if not isinstance(entry.call_due, Unset):
        move.call = models.MoveCall(entry.call_due)
    if wish is not None:
        move.wish = models.MoveWish(wish)
    if take is not None:
        move.take = take
    elif not isinstance(entry.take_from, Unset):
        move.take = entry.take_from[0]
    return move


class Abbot(AbstractContextManager["Abbot"]):
    """The API at `url` (without `/v1`), as the player that `token` stands for.

    player: with an app's key as `token`, the id of the player to act for.
    language: in which language sentences come, as `de`; English by default.
    patience: seconds for which a call is tried again while no answer comes.
    refuse: in the sandbox, how every call is refused: `unavailable`, `rate-limited` or
      `unauthenticated`. The first two are tried again as real ones are, so with little patience.
    transport: what really sends, for proxies and certificates of your own.

    Every call raises AbbotError for a refusal, TooLate for a move that came too late, and
    httpx.TransportError once patience has ended. May be shared by threads. `client` is for the
    operations in `abbot_client.generated.api` that have no method here.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        player: UUID | str | None = None,
        language: str | None = None,
        patience: float = 60.0,
        refuse: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.token = token
        headers: dict[str, str] = {}
        if player is not None:
            headers["Abbot-Player"] = str(player)
        if language is not None:
            headers["Accept-Language"] = language
        if refuse is not None:
            headers["Abbot-Sandbox-Refuse"] = refuse
        settings: dict[str, Any] = {
            "base_url": self.url,
            "headers": headers,
            "timeout": httpx.Timeout(WAIT + 30),
            "httpx_args": {"transport": PatientTransport(patience, transport)},
        }
        # An operation that needs a token refuses without one, as the server does.
        self.client = (
            AuthenticatedClient(token=token, **settings)
            if token is not None
            else cast(AuthenticatedClient, Client(**settings))
        )

    @classmethod
    def register(cls, url: str, name: str, *, sandbox: bool = False, **settings: Any) -> Self:
        """A new player; keep its `token`, it is not shown again. With `sandbox` it is one for
        tests, for ever: all its games are sandbox games. `settings` are those of the class."""
        # Nobody is not in the sandbox yet, and may not ask to be refused.
        with cls(url, **settings | {"refuse": None}) as nobody:
            body = models.NewPlayer(name=name, sandbox=sandbox)
            answer = register_player.sync_detailed(client=nobody.client, body=body)
        return cls(url, _result(answer, models.RegisteredPlayer).token, **settings)

    def close(self) -> None:
        """Close all connections."""
        self.client.get_httpx_client().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def create_game(self, ruleset: str, **settings: Any) -> models.Game:
        """Open a table of `halleluja` or `vallelujah`, with its host in seat 0. `settings` are
        the fields of NewGame, as `turn_seconds=600, options={"rounds_to_win": 1}`."""
        body = models.NewGame.from_dict({"ruleset": ruleset, **settings})
        answer = create_game.sync_detailed(client=self.client, body=body, idempotency_key=new_key())
        return _result(answer, models.Game)

    def take_seat(self, game_id: UUID | str, **seat: Any) -> models.Game:
        """Sit down, or as host seat a computer player (`bot="greedy"`); the fields of NewSeat."""
        answer = take_seat.sync_detailed(
            _id(game_id),
            client=self.client,
            body=models.NewSeat.from_dict(seat),
            idempotency_key=new_key(),
        )
        return _result(answer, models.Game)

    def start(self, game_id: UUID | str) -> models.Game:
        """Start the match, as host."""
        return self._plain(start_game, game_id)

    def resign(self, game_id: UUID | str) -> models.Game:
        """Give the match up."""
        return self._plain(resign, game_id)

    def come_back(self, game_id: UUID | str) -> models.Game:
        """Say that one is there again."""
        return self._plain(come_back, game_id)

    def rematch(self, game_id: UUID | str) -> models.Game:
        """The next table of the same players, with a seat at it."""
        return self._plain(rematch, game_id)

    def advance_clock(
        self, game_id: UUID | str, seconds: int, *, key: str | None = None
    ) -> models.Game:
        """Move a sandbox game's clock forward, as host; what comes due on the way has happened.
        It counts once; who keeps the `key` can send it again after a restart."""
        answer = advance_clock.sync_detailed(
            _id(game_id),
            client=self.client,
            body=models.ClockChange(advance_seconds=seconds),
            idempotency_key=key or new_key(),
        )
        return _result(answer, models.Game)

    def _plain(self, operation: Any, game_id: UUID | str) -> models.Game:
        answer = operation.sync_detailed(
            _id(game_id), client=self.client, body=models.EmptyObject(), idempotency_key=new_key()
        )
        return _result(answer, models.Game)

    def game(self, game_id: UUID | str, *, newer_than: int | None = None) -> models.Game:
        """The game as the player may see it. With `newer_than`, a version: once there is one,
        however long that takes; at once if the game is over."""
        while True:
            waiting = newer_than is not None
            answer = get_game.sync_detailed(
                _id(game_id),
                client=self.client,
                wait=WAIT if waiting else UNSET,
                if_none_match=f'"{newer_than}"' if waiting else UNSET,
            )
            if answer.status_code != HTTPStatus.NOT_MODIFIED:
                return _result(answer, models.Game)

    def games(self, **query: Any) -> Iterator[models.GameSummary]:
        """Tables and games, newest first; the filters of `GET /games`, as `mine=True`."""
        while True:
            page = _result(list_games.sync_detailed(client=self.client, **query), models.GameList)
            yield from page.items
            if isinstance(page.next_cursor, Unset):
                return
            query["cursor"] = page.next_cursor

    def wait_for_turn(self) -> list[models.GameSummary]:
        """The games in which it is the player's turn, once there is one."""
        while True:
            answer = list_games.sync_detailed(
                client=self.client, turn=models.ListGamesTurn.ME, wait=WAIT
            )
            if games := _result(answer, models.GameList).items:
                return games

    def move(
        self, game_id: UUID | str, move: models.Move, *, key: str | None = None
    ) -> models.MadeMove:
        """Make a move. It counts once; who keeps the `key` can send it again after a restart."""
        answer = make_move.sync_detailed(
            _id(game_id), client=self.client, body=move, idempotency_key=key or new_key()
        )
        return _result(answer, models.MadeMove)

    def turns(self, game_id: UUID | str) -> Iterator[Turn]:
        """Each time that the player may move, until the game is over. A player who was away is
        back with that."""
        game = self.game(game_id)
        while game.status in OPEN:
            if not isinstance(game.you, Unset):
                seat = next(each for each in game.seats if each.seat == game.you.seat)
                if seat.status == "away":
                    self.come_back(game_id)
                if game.you.legal_moves:
                    yield Turn(game, game.you.legal_moves)
                    game = self.game(game_id)
                    continue
            game = self.game(game_id, newer_than=game.version)

    def events(self, game_id: UUID | str, after: int = 0) -> Iterator[GameEvent]:
        """What has happened so far, after version `after`."""
        while True:
            answer = list_events.sync_detailed(
                _id(game_id), client=self.client, after=after, limit=1000
            )
            page = _result(answer, models.EventList)
            yield from page.items
            if isinstance(page.next_cursor, Unset):
                return
            after = page.items[-1].version

    def stream(self, game_id: UUID | str, after: int = 0) -> Iterator[GameEvent]:
        """The events after version `after`, then each as it happens, until the game is over.

        A broken connection is made again, for as long as it takes: each event comes once and none
        is missing. AbbotError once the player may not see it, or no longer.
        """
        again, asked = pauses(1.0, LONGEST_PAUSE), 0.0
        while True:
            try:
                with self._opened(game_id, after) as response:
                    if response.status_code in AGAIN:
                        asked = asked_pause(response)
                    elif response.status_code == HTTPStatus.NO_CONTENT:
                        return
                    elif response.is_error:
                        response.read()
                        raise error_of(response.status_code, _problem(response))
                    else:
                        for message in messages(response.iter_lines()):
                            if message.retry is not None:
                                asked = message.retry / 1000
                            if message.event == "end":
                                return
                            if message.event != "message" or not message.data:
                                continue
                            event = _event(json.loads(message.data))
                            if event.version == after + 1:
                                after = event.version
                                again = pauses(1.0, LONGEST_PAUSE)
                                yield event
                            elif event.version > after:
                                break
            except httpx.TransportError:
                pass
            time.sleep(max(next(again), asked))

    def _opened(self, game_id: UUID | str, after: int) -> AbstractContextManager[httpx.Response]:
        return self.client.get_httpx_client().stream(
            "GET",
            f"/v1/games/{_id(game_id)}/stream",
            headers={"Accept": STREAM, "Last-Event-ID": str(after)},
            timeout=httpx.Timeout(SILENCE),
        )


def _id(game_id: UUID | str) -> UUID:
    return game_id if isinstance(game_id, UUID) else UUID(game_id)


def _result(answer: Response[Any], kind: type[Kind]) -> Kind:
    parsed = answer.parsed
    if isinstance(parsed, kind):
        return parsed
    raise error_of(answer.status_code, parsed if isinstance(parsed, models.Problem) else None)


def _problem(response: httpx.Response) -> models.Problem | None:
    try:
        return models.Problem.from_dict(response.json())
    except (KeyError, ValueError):
        return None


def _event(value: dict[str, Any]) -> GameEvent:
    # The union of events has no class of its own: a page of one event takes it apart.
    head = {"version": value["version"], "hash": value["hash"]}
    return models.EventList.from_dict({"items": [value], "head": head}).items[0]
