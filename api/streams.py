"""A game live, as server-sent events (WHATWG HTML, section 9.2), and tickets that open a stream."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import orjson
import structlog
from flask import Response, current_app, request

from domain import times
from domain.events import Recorded
from domain.evolution import ENDINGS
from domain.redaction import Viewer
from domain.wording import Sentence
from eventstore.errors import Unavailable
from eventstore.invites import code_hash
from eventstore.store import Loaded
from eventstore.watching import Known, Sight

from . import access, auth, presenting, rates, responses, waits
from .auth import AUDIT, Access
from .documentation import Blueprint
from .live import Live, on_hangup
from .logs import log
from .metrics import STREAMS
from .negotiation import EVENT_STREAM
from .operation import Answer, Call, operation
from .problems import Problem, invalid
from .schemas.streams import NewStreamTicket, StreamQuery, StreamTicket
from .services import Services, services
from .watching import DENIED, GONE, GameWatch, Guard

blueprint = Blueprint("streams", __name__, description="A game live.")

TICKET_SECONDS = 600
"""For how long a ticket opens a stream."""
PAGE = 100
"""Events that are read at a time by who is far behind."""
RETRY_MS = 2000
"""After how long a client comes again that has lost its stream."""
STOPPING_RETRY_MS = (500, 3000)
"""The same when this process stops: not all at once."""
_EVENT_ID = re.compile(r"0|[1-9][0-9]{0,9}")
HEARTBEAT = b":\n\n"
AWAY = b": the record cannot be reached at the moment\n\n"


@blueprint.route("/games/<id:game_id>/stream-tickets", methods=["POST"])
@operation(
    "createStreamTicket",
    answers={201: Answer("The ticket.", StreamTicket)},
    body=NewStreamTicket,
    problems=("not-found",),
)
def create_ticket(call: Call, game_id: str) -> Response:
    """Make a ticket for a stream.

    For browsers, whose EventSource sends no Authorization header: for ten minutes
    `GET …/stream?ticket=…` opens the stream of this one game, as the caller sees it, and nothing
    else. A stream that is open goes on after that, until the token that asked is revoked.
    """
    loaded = access.load(call, game_id)
    ticket = auth.new_ticket()
    services().tickets.add(
        game_id, call.player.token_id, auth.token_hash(ticket), float(TICKET_SECONDS)
    )
    now = loaded.game.real_time(loaded.now)
    expires = times.plus_seconds(now, loaded.late_seconds + TICKET_SECONDS)
    body = {"ticket": ticket, "game_id": game_id, "expires_at": expires}
    return responses.secret(responses.json(body, 201))


@blueprint.route("/games/<id:game_id>/stream", methods=["GET"])
@operation(
    "streamEvents",
    access=Access.OPTIONAL,
    answers={
        200: Answer(
            "Server-sent events: each event of the game as `data`, its version as `id`.",
            media=EVENT_STREAM,
        ),
        204: Answer("The game is over and there is nothing after that version: come no more."),
    },
    query=StreamQuery,
    problems=("not-found", "rate-limited"),
    offered=(EVENT_STREAM,),
    last_event_id=True,
)
def stream_events(call: Call, game_id: str) -> Response:
    """Stream a game's events.

    Those that there are, from version 1 or after `after`, then each as it happens: the same as in
    the game's events, in the same order, without a gap. `Last-Event-ID`, which an EventSource sends
    by itself, wins over `after`. When the game is over there comes `event: end` with its status and
    version, and a client that comes again gets 204.
    """
    _use_ticket(call, game_id)
    loaded = access.load(call, game_id)
    if "ticket" in call.query and "Authorization" in request.headers:
        raise invalid(("ticket", Sentence("Does not go with a token.")))
    after = _last_event_id(call.query["after"])
    if loaded.game.over and after >= loaded.game.version:
        return responses.nothing()
    if request.method == "HEAD":
        return _headed(current_app.response_class(mimetype=EVENT_STREAM))
    return _open(call, loaded, after)


def _use_ticket(call: Call, game_id: str) -> None:
    """Let the ticket in the query, if there is one, say who calls; a 401 if it opens nothing."""
    ticket = dict(call.asked).get("ticket")
    if ticket is None or call.caller is not None:
        return
    token_id = None
    if auth.is_ticket(ticket):
        token_id = services().tickets.token(game_id, auth.token_hash(ticket))
    caller = None if token_id is None else services().players.holder(token_id)
    if caller is None:
        raise auth.unauthenticated("The ticket is not for this game, or no longer valid.")
    call.caller = caller
    structlog.contextvars.bind_contextvars(player_id=caller.player_id)


def _last_event_id(after: int) -> int:
    """After which version to begin."""
    sent = request.headers.get("Last-Event-ID", "").strip()
    if not sent:
        return after
    if not _EVENT_ID.fullmatch(sent) or int(sent) > 2**31 - 1:
        raise Problem("malformed-request", "Last-Event-ID must be the version of an event.")
    return int(sent)


def _open(call: Call, loaded: Loaded, after: int) -> Response:
    live, game_id = services().live, loaded.game.game_id
    with ExitStack() as closing:
        closing.callback(live.places.take(call.player_id, address=rates.address(), stream=True))
        viewer = access.viewer(loaded.game, call)
        late = _sees_late(viewer, loaded.game.spectator_delay_seconds)
        watch = closing.enter_context(live.watcher.game(game_id, waits.known(loaded), late=late))
        token_id = call.caller.token_id if call.caller else None
        needed = AUDIT if viewer.everything and not loaded.game.over else None
        guard = Guard(watch, token_id, AUDIT, _sights(call, loaded), needed)
        live.watcher.guard(guard)
        closing.callback(live.watcher.unguard, guard)
        closing.callback(on_hangup(lambda: watch.end(GONE)))
        stream = Stream(live, services(), loaded, watch, viewer, call, after)
        closing.callback(stream.log_end)
        STREAMS.inc()
        closing.callback(STREAMS.dec)
        response = current_app.response_class(stream.lines(), mimetype=EVENT_STREAM)
        response.call_on_close(closing.pop_all().close)
    return _headed(response)


def _sees_late(viewer: Viewer, delay: int) -> bool:
    """Whether what comes is for a spectator, and later than for seats."""
    return delay > 0 and viewer.seat is None and not viewer.everything


def _headed(response: Response) -> Response:
    response.headers["Cache-Control"] = "private, no-cache, no-transform"
    # Proxies that collect answers before they pass them on leave this one alone.
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _sights(call: Call, loaded: Loaded) -> tuple[Sight, ...]:
    """By what the caller sees a private game; none for one that anyone may see."""
    game = loaded.game
    if game.visibility == "public":
        return ()
    by_player = Sight(game.game_id, call.player_id, None)
    if call.invite is None:
        return (by_player,)
    return by_player, Sight(game.game_id, None, code_hash(call.invite))


@dataclass(slots=True)
class Stream:
    """What one reader is sent. It keeps nothing back for a reader who is slow: whoever falls
    behind is read to from the record again."""

    live: Live
    services: Services
    loaded: Loaded
    watch: GameWatch
    viewer: Viewer
    call: Call
    after: int
    """The version after which to begin, which may be beyond the newest."""
    position: int = 0
    """The version of the last event that was looked at."""
    sent: int = 0
    began: float = 0.0
    reason: str = GONE
    """Why it ended."""
    over: bool = False
    status: str | None = None
    """How the game ended, once that was sent."""
    delay: int = 0
    """By how many seconds spectators see it later."""

    def lines(self) -> Iterator[bytes]:
        """The stream, in parts that are sent at once."""
        bounds = self.live.bounds
        self.began = last = time.monotonic()
        self.over = self.loaded.game.over
        self.delay = self.loaded.game.spectator_delay_seconds
        self.position = min(self.after, self.loaded.game.version)
        yield b"retry: %d\n\n" % RETRY_MS
        while not self.watch.ended:
            events = self._more()
            if events:
                written = self._written(events)
                if written:
                    yield written
                    last = time.monotonic()
                continue
            over = self.loaded.game.over
            status = self.loaded.game.status if over else self.watch.status or self.status
            if status is not None:
                self.reason = "over"
                yield self._end(status)
                return
            now = time.monotonic()
            away = self.live.watcher.away_seconds
            if away > bounds.away_seconds or now - self.began >= bounds.stream_seconds:
                self.reason = "away" if away else "long"
                break
            if now - last >= bounds.heartbeat_seconds:
                yield AWAY if away else HEARTBEAT
                last = time.monotonic()
            next_line = min(last + bounds.heartbeat_seconds, self.began + bounds.stream_seconds)
            self.watch.sleep(next_line - time.monotonic())
        self.reason = self.watch.ended or self.reason
        if self.reason not in (GONE, DENIED):
            yield b"retry: %d\n\n" % random.randint(*STOPPING_RETRY_MS)

    def _more(self) -> list[Recorded]:
        events = self.watch.events(self.position)
        if events is not None:
            return events
        # No further than what is known of: for spectators there can be more.
        count = min(PAGE, self.watch.version - self.position)
        try:
            return self.services.store.events(self.loaded.game.game_id, self.position, count)
        except Unavailable:
            return []

    def _written(self, events: list[Recorded]) -> bytes:
        events = self._followed(events)
        if self.viewer.everything and not self.over:
            self._record_look(events[-1].version)
        self.position = events[-1].version
        wanted = [event for event in events if event.version > self.after]
        shown = presenting.events(wanted, self.viewer, self.over)
        self.sent += len(shown)
        return b"".join(
            b"id: %d\ndata: %b\n\n" % (event["version"], orjson.dumps(event)) for event in shown
        )

    def _followed(self, events: list[Recorded]) -> list[Recorded]:
        """Know whether the game is over, and in the lobby the reader's seat and the table's delay.
        The events up to the one from which on the reader sees the game later, or no longer so."""
        for index, event in enumerate(events):
            if event.type in ENDINGS:
                self.over = True
                self.status = ENDINGS[event.type][0]
            if event.version <= self.loaded.game.version:
                continue
            self._follow_lobby(event)
            late = _sees_late(self.viewer, self.delay)
            if late != self.watch.late:
                self.watch.turn(Known(event.version, event.hash), late=late)
                return events[: index + 1]
        return events

    def _follow_lobby(self, event: Recorded) -> None:
        data, player_id = event.data, self.call.player_id
        if event.type == "table.changed":
            self.delay = data.get("spectator_delay_seconds", self.delay)
        elif player_id is None:
            return
        elif event.type == "seat.taken" and data.get("player_id") == player_id:
            # From now on also an auditor sees the game as this seat only.
            self.viewer = Viewer(data["seat"])
        elif event.type == "seat.left" and data["seat"] == self.viewer.seat:
            self.viewer = Viewer()

    def _record_look(self, version: int) -> None:
        """What an auditor sees of a running game is recorded before it is shown; what there was
        when the stream was opened has been already."""
        if version <= self.loaded.game.version:
            return
        self.services.looks.record(
            self.loaded.game.game_id,
            version,
            player_id=self.call.player.player_id,
            token_id=self.call.player.token_id,
            operation=self.call.operation.id,
        )

    def _end(self, status: str) -> bytes:
        told = {"status": status, "version": self.watch.version}
        return b"event: end\ndata: %b\n\n" % orjson.dumps(told)

    def log_end(self) -> None:
        """One line when it is over; nothing of what was sent."""
        log.info(
            "stream-ended",
            reason=self.reason,
            events=self.sent,
            seconds=round(time.monotonic() - self.began, 1) if self.began else 0.0,
        )
