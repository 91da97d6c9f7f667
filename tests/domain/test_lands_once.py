"""A move that names its turn counts once, even if its copy is judged on the position after it."""

from __future__ import annotations

from typing import Any

import pytest

from domain.commands import Context, MakeMove
from domain.game import decide, lands_once
from domain.refusals import Refused

from .games import CELLS, RandomGame, cell_name
from .positions import PLAYERS, SECRET, halleluja, started


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_the_copy_of_a_move_is_refused(cell: tuple[str, int, dict[str, Any]]) -> None:
    ruleset, seats, options = cell
    play = RandomGame(ruleset, seats, options, seed="copies")
    context = Context(SECRET, play.table.now)
    tried = 0
    for step, _ in enumerate(play.play()):
        game = play.table.game
        if game.turn is None or game.seats[game.turn.seat].player_id is None or step % 3:
            continue
        player = play.table.player(game.turn.seat)
        moves = play.referee.moves()
        for move in play.rng.sample(moves, min(3, len(moves))):
            command = MakeMove(player, move, game.round, game.turn.number)
            if not lands_once(game, command):
                assert move["type"] == "draw"
                continue
            after = decide(game, command, context).game
            if after.over:
                continue
            tried += 1
            with pytest.raises(Refused):
                decide(after, command, context)
    assert tried


def test_what_can_count_twice() -> None:
    game = started("halleluja", 2, options={"annoyed_stacks": True}).game
    for move, once in (
        ({"type": "draw"}, False),
        ({"type": "exclaim", "word": "mau"}, False),
        ({"type": "play", "card": "A-rose"}, True),
        ({"type": "keep"}, True),
    ):
        assert lands_once(game, MakeMove(PLAYERS[0], move, 1, 1)) is once
        assert not lands_once(game, MakeMove(PLAYERS[0], move, 1))
        assert not lands_once(game, MakeMove(PLAYERS[0], move))


def test_drawing_twice_in_a_turn_is_possible_where_what_was_pending_is_drawn_first() -> None:
    table = halleluja(
        [["A-rose", "A-apple"], ["C-rose", "E-rose"]], "B-rose",
        to_move=1, options={"annoyed_stacks": True, "annoyed_ends_turn": False},
    )  # fmt: skip
    table.move(1, "play", card="E-rose", call="halleluja")
    game = table.game
    assert game.turn is not None
    assert game.turn.seat == 0
    command = MakeMove(PLAYERS[0], {"type": "draw"}, game.round, game.turn.number)
    table.do(command)
    assert table.game.turn is not None
    assert table.game.turn.number == game.turn.number
    assert not lands_once(game, command)
