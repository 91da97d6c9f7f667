"""Reads that wait for something new (long polling), and then answer as if they had just come."""

from __future__ import annotations

import time
from collections.abc import Callable

from flask import Response

from domain.state import LOBBY
from eventstore.store import Loaded
from eventstore.watching import Known

from . import etags
from .operation import Call
from .services import services

Load = Callable[[], Loaded]


def _seconds(call: Call) -> float:
    return min(float(call.query.get("wait", 0)), services().live.bounds.wait_seconds)


def known(loaded: Loaded) -> Known:
    """Up to where a loaded game is known."""
    return Known(loaded.game.version, loaded.head_hash)


def for_events(call: Call, load: Load) -> Loaded:
    """The game once it has events after the query's `after`, is over, or the time is up.

    `load` checks what the caller may; it is asked again after a wait, as that can have changed.
    """
    loaded = load()
    after, seconds = call.query["after"], _seconds(call)
    if not seconds or _has_events(loaded, after):
        return loaded
    live = services().live
    deadline = time.monotonic() + seconds
    with (
        live.watcher.game(loaded.game.game_id, known(loaded), late=_is_late(loaded)) as watch,
        live.waiting(watch, call.player_id),
    ):
        while not _has_events(loaded, after):
            seen = loaded.game.version
            # All of the lobby is told at once, but who sees it may see the match late.
            known_of = seen if loaded.game.status == LOBBY else after

            def ready(version: int = known_of) -> bool:
                return watch.version > version

            if not watch.until(ready, deadline - time.monotonic()):
                break
            loaded = _again(call, load)
            if _is_late(loaded) != watch.late:
                watch.turn(known(loaded), late=_is_late(loaded))
            elif loaded.game.version <= seen:
                break
    return loaded


def _has_events(loaded: Loaded, after: int) -> bool:
    """Whether there are events after `after`, or will never be."""
    return after < loaded.game.version or loaded.game.over


def _is_late(loaded: Loaded) -> bool:
    return loaded.late_seconds > 0


def for_change(call: Call, load: Load, tag: Callable[[Loaded], str]) -> Loaded:
    """The game once its tag is not the one that the caller has, or the time is up."""
    loaded = load()
    seconds = _seconds(call)
    if not seconds or not etags.unchanged(tag(loaded)):
        return loaded
    live = services().live
    game = loaded.game
    with (
        live.watcher.game(
            game.game_id,
            known(loaded),
            late=_is_late(loaded),
            rematch=game.over and loaded.rematch is None,
        ) as watch,
        live.waiting(watch, call.player_id),
    ):
        changed = watch.until(lambda: watch.version > game.version or watch.rematch, seconds)
    return _again(call, load) if changed else loaded


def for_turn(call: Call, look: Callable[[], tuple[Response, bool]]) -> Response:
    """The answer that `look` gives, once it also says that this is worth an answer, or the time
    is up."""
    response, found = look()
    seconds = _seconds(call)
    if found or not seconds:
        return response
    live = services().live
    deadline = time.monotonic() + seconds
    with live.watcher.player(call.player.player_id) as watch, live.waiting(watch, call.player_id):
        while not found:
            seen = watch.mark
            call.look_again()
            response, found = look()
            left = deadline - time.monotonic()
            if found or not watch.until(lambda seen=seen: watch.mark != seen, left):  # type: ignore[misc]
                break
    return response


def _again(call: Call, load: Load) -> Loaded:
    call.look_again()
    return load()
