"""Pages of games: bounded queries on the summaries, apart from the moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple

from .database import Database
from .pool import Pool
from .sql import RFC3339


class SeatSummary(NamedTuple):
    """Who sits there; `name` is None for bots and for players who were erased."""

    seat: int
    player_id: str | None
    name: str | None
    bot: str | None
    status: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A game as lists show it."""

    game_id: str
    ruleset: str
    ruleset_version: str
    status: str
    version: int
    visibility: str
    options: dict[str, Any]
    turn_seconds: int
    max_seats: int
    host: int | None
    turn_seat: int | None
    due_at: str | None
    created_at: str
    updated_at: str
    rematch: str | None
    seats: tuple[SeatSummary, ...]


class Page(NamedTuple):
    """Games, newest first. `next` is the id to go on before; None if there are no more."""

    items: list[Summary]
    next: str | None


_SHOW: LiteralString = f"""
SELECT g.game_id::text, g.ruleset, g.ruleset_version, g.status, g.version, g.visibility,
    g.options, g.turn_seconds, g.max_seats, g.host_seat, g.turn_seat,
    to_char(d.due_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(g.created_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(g.updated_at AT TIME ZONE 'UTC', '{RFC3339}'),
    r.new_game_id::text,
    (SELECT jsonb_agg(jsonb_build_array(s.seat, s.player_id, p.name, s.bot, s.status)
            ORDER BY s.seat)
        FROM seats s LEFT JOIN players p ON p.player_id = s.player_id
        WHERE s.game_id = g.game_id)
FROM chosen c JOIN games g ON g.game_id = c.game_id
LEFT JOIN deadlines d ON d.game_id = g.game_id AND d.kind = 'turn'
LEFT JOIN rematches r ON r.old_game_id = g.game_id AND r.created_at IS NOT NULL
ORDER BY g.game_id DESC
"""


class Lists:
    """Lists of games. `viewer` is the id of the player who asks, None for anonymous callers."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)

    def games(
        self,
        *,
        viewer: str | None = None,
        everything: bool = False,
        status: str | None = None,
        ruleset: str | None = None,
        mine: bool = False,
        my_turn: bool = False,
        before: str | None = None,
        limit: int = 50,
    ) -> Page:
        """At most `limit` of the games that the viewer may see, those made before `before`.

        Private games are shown to who sits there or was admitted, and with `everything` to an
        auditor. `mine` keeps those where the viewer holds a seat, `my_turn` those where the viewer
        is to move.
        """
        filters: LiteralString = ""
        if status is not None:
            filters += " AND g.status = %(status)s"
        if ruleset is not None:
            filters += " AND g.ruleset = %(ruleset)s"
        page: LiteralString = "" if before is None else " AND {}.game_id < %(before)s::uuid"
        page = filters + page + " ORDER BY {}.game_id DESC LIMIT %(limit)s"
        rows = self.database.run(
            f"WITH chosen AS ({_chosen(viewer, everything, mine, my_turn, page)}){_SHOW}",
            {
                "viewer": viewer,
                "status": status,
                "ruleset": ruleset,
                "before": before,
                "limit": limit + 1,
            },
        )
        items = [Summary(*(*row[:-1], _seats(row[-1]))) for row in rows]
        more = len(items) > limit
        return Page(items[:limit], items[limit - 1].game_id if more else None)


def _seats(rows: list[list[Any]] | None) -> tuple[SeatSummary, ...]:
    return tuple(SeatSummary(*row) for row in rows or ())


def _chosen(
    viewer: str | None, everything: bool, mine: bool, my_turn: bool, page: LiteralString
) -> LiteralString:
    """The ids of the games of one page and one more, each branch along an index of its own.

    `page` is the end of each branch, with `{}` for the table whose index leads.
    """
    if (mine or my_turn) and viewer is None:
        return "SELECT game_id FROM games WHERE false"
    seated: LiteralString = (
        "SELECT g.game_id FROM seats s JOIN games g ON g.game_id = s.game_id "
        "WHERE s.player_id = %(viewer)s::uuid"
    )
    if my_turn:
        return f"{seated} AND s.live AND g.turn_player = %(viewer)s::uuid{page.replace('{}', 's')}"
    if mine:
        return seated + page.replace("{}", "s")
    games: LiteralString = "SELECT g.game_id FROM games g WHERE "
    if everything:
        return f"{games}true{page.replace('{}', 'g')}"
    public: LiteralString = f"{games}g.visibility = 'public'{page.replace('{}', 'g')}"
    if viewer is None:
        return public
    admitted: LiteralString = (
        "SELECT g.game_id FROM invited i JOIN games g ON g.game_id = i.game_id "
        "WHERE i.player_id = %(viewer)s::uuid"
    )
    return (
        f"SELECT game_id FROM (({public}) UNION ({seated}{page.replace('{}', 's')}) "
        f"UNION ({admitted}{page.replace('{}', 'i')})) visible "
        "ORDER BY game_id DESC LIMIT %(limit)s"
    )
