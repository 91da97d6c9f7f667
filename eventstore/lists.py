"""Pages of games: bounded queries on the summaries, apart from the moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, LiteralString, NamedTuple

from domain.state import ACTIVE, OVER
from domain.views import seat_status

from .database import Database
from .earlier import Earlier, Past
from .pool import Pool
from .rematches import NOT_YET
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
    spectator_delay_seconds: int
    late: bool
    """Whether the viewer sees it as late as that, having no seat in it."""
    sandbox: bool
    seats: tuple[SeatSummary, ...]


class Page(NamedTuple):
    """Games, newest first. `next` is the id to go on before; None if there are no more."""

    items: list[Summary]
    next: str | None


_NOW: LiteralString = "(SELECT clock_timestamp())"
"""The database's clock, asked once, so that an index serves."""

_WATCHES: LiteralString = """NOT EXISTS (
    SELECT FROM seats v WHERE v.game_id = g.game_id AND v.player_id = %(viewer)s::uuid
)"""
"""Whether the viewer has no seat."""

_SHOW: LiteralString = f"""
SELECT g.game_id::text, g.ruleset, g.ruleset_version, g.status, g.version, g.visibility,
    g.options, g.turn_seconds, g.max_seats, g.host_seat, g.turn_seat,
    to_char((d.due_at + g.ahead_ms * interval '1 millisecond') AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(g.created_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(g.updated_at AT TIME ZONE 'UTC', '{RFC3339}'),
    r.new_game_id::text, g.spectator_delay_seconds,
    g.spectator_delay_seconds > 0 AND g.started_version IS NOT NULL
        AND coalesce(g.late_until > {_NOW}, true) AND {_WATCHES}, g.sandbox,
    (SELECT jsonb_agg(jsonb_build_array(s.seat, s.player_id, p.name, s.bot, s.status)
            ORDER BY s.seat)
        FROM seats s LEFT JOIN players p ON p.player_id = s.player_id
        WHERE s.game_id = g.game_id)
FROM chosen c JOIN games g ON g.game_id = c.game_id
LEFT JOIN deadlines d ON d.game_id = g.game_id AND d.kind = 'turn'
LEFT JOIN rematches r ON r.old_game_id = g.game_id AND r.created_at IS NOT NULL AND (
    %(everything)s OR g.spectator_delay_seconds = 0 OR NOT {_WATCHES}
    OR r.created_at <= {_NOW} - make_interval(secs => g.spectator_delay_seconds)
)
ORDER BY g.game_id DESC
"""


class Lists:
    """Lists of games. `viewer` is the id of the player who asks, None for anonymous callers."""

    def __init__(self, pool: Pool, earlier: Earlier) -> None:
        self.database = Database(pool)
        self.earlier = earlier

    def games(
        self,
        *,
        viewer: str | None = None,
        sandbox: bool = False,
        everything: bool = False,
        status: str | None = None,
        ruleset: str | None = None,
        mine: bool = False,
        my_turn: bool = False,
        before: str | None = None,
        limit: int = 50,
    ) -> Page:
        """At most `limit` of the games that the viewer may see, those made before `before`.

        Those of the sandbox, or the real ones. Private games are shown to who sits there or was
        admitted, and with `everything` to an auditor. `mine` keeps those where the viewer holds a
        seat, `my_turn` those where the viewer is to move. Games are shown and chosen by their
        status as the viewer sees them.
        """
        # Written out, so that a partial index serves.
        page: LiteralString = " AND g.sandbox" if sandbox else " AND NOT g.sandbox"
        if before is not None:
            page += " AND {}.game_id < %(before)s::uuid"
        if ruleset is not None:
            page += " AND g.ruleset = %(ruleset)s"
        page += " ORDER BY {}.game_id DESC LIMIT %(limit)s"
        chosen = _chosen(
            viewer, page, everything=everything, mine=mine, my_turn=my_turn, status=status
        )
        rows = self.database.run(
            f"WITH chosen AS ({chosen}){_SHOW}",
            {
                "viewer": viewer,
                "everything": everything,
                "status": status,
                "ruleset": ruleset,
                "before": before,
                "limit": limit + 1,
            },
        )
        items = [Summary(*(*row[:-1], _seats(row[-1]))) for row in rows]
        more = len(items) > limit
        next_before = items[limit - 1].game_id if more else None
        return Page(self._as_seen(items[:limit], viewer, everything), next_before)

    def _as_seen(self, items: list[Summary], viewer: str | None, everything: bool) -> list[Summary]:
        """The games as late as the viewer sees them."""
        late = [each.game_id for each in items if each.late]
        past = self.earlier.of_all(late) if late else {}

        def seen(item: Summary) -> Summary | None:
            if not item.late:
                return item
            then = past.get(item.game_id)
            if everything and (
                item.status in OVER or then is None or viewer not in then.loaded.game.sat
            ):
                return replace(item, late=False)  # An auditor's, who never sat there.
            return None if then is None else _earlier(item, then)

        return [shown for item in items if (shown := seen(item)) is not None]


def _earlier(item: Summary, then: Past) -> Summary:
    """The summary of a game as it stood then. Seats stay as they are from the start on."""
    game = then.loaded.game
    return replace(
        item,
        status=game.status,
        version=game.version,
        turn_seat=None if game.turn is None else game.turn.seat,
        due_at=game.due_at,
        updated_at=then.at,
        rematch=then.loaded.rematch,
        seats=tuple(seat._replace(status=seat_status(game, seat.seat)) for seat in item.seats),
    )


def _seats(rows: list[list[Any]] | None) -> tuple[SeatSummary, ...]:
    return tuple(SeatSummary(*row) for row in rows or ())


def _chosen(
    viewer: str | None,
    page: LiteralString,
    *,
    everything: bool,
    mine: bool,
    my_turn: bool,
    status: str | None,
) -> LiteralString:
    """The ids of the games of one page and one more, each branch along an index of its own.

    `page` is the end of each branch, with `{}` for the table whose index leads.
    """
    if (mine or my_turn) and viewer is None:
        return "SELECT game_id FROM games WHERE false"
    # Spectators are told later that a match is over: till then it is active for them.
    ends_late: LiteralString = "" if status is None else f" AND g.late_until > {_NOW}" + page
    watched = page
    if status is not None:
        page = " AND g.status = %(status)s" + page
        watched = page
        if status in OVER:
            watched = f" AND coalesce(g.late_until <= {_NOW}, true)" + page
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
    public: LiteralString = f"{games}g.visibility = 'public' AND NOT {NOT_YET}"
    branches: LiteralString = f"({public}{watched.replace('{}', 'g')})"
    if status == ACTIVE:
        branches += f" UNION ({public} AND {_WATCHES}{ends_late.replace('{}', 'g')})"
    if viewer is not None:
        admitted: LiteralString = (
            "SELECT g.game_id FROM invited i JOIN games g ON g.game_id = i.game_id "
            "WHERE i.player_id = %(viewer)s::uuid"
        )
        branches += f" UNION ({seated}{page.replace('{}', 's')})"
        branches += f" UNION ({admitted}{watched.replace('{}', 'i')})"
        if status == ACTIVE:
            branches += f" UNION ({admitted} AND {_WATCHES}{ends_late.replace('{}', 'i')})"
    return f"SELECT game_id FROM ({branches}) visible ORDER BY game_id DESC LIMIT %(limit)s"
