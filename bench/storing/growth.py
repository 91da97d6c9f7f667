"""Appends, loads and audits while the record grows: the same match again and again, by new ids."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.common.server import Server
from bench.storing.abbot import moved, started
from eventstore.auditing import Auditor
from eventstore.executor import Executor
from eventstore.pool import Pool
from eventstore.store import Store

THREADS = 4
BATCH_GAMES = 200
SECONDS = 3.0

_GROW = """
CREATE FUNCTION bench_grow(p_template uuid, p_games integer) RETURNS void LANGUAGE plpgsql AS $f$
-- Copies of a match under new ids, each with a chain of its own.
DECLARE
    v_game uuid;
    v_hash bytea;
    v_body text;
    v_event record;
BEGIN
    FOR n IN 1..p_games LOOP
        v_game := (substr(p_template::text, 1, 14) || substr(gen_random_uuid()::text, 15))::uuid;
        v_hash := decode(repeat('00', 32), 'hex');
        INSERT INTO games SELECT (jsonb_populate_record(g,
            jsonb_build_object('game_id', v_game::text))).* FROM games g WHERE game_id = p_template;
        INSERT INTO seats SELECT v_game, seat, player_id, bot, status, false FROM seats
            WHERE game_id = p_template;
        FOR v_event IN SELECT version, body FROM events WHERE game_id = p_template ORDER BY version
        LOOP
            v_body := replace(v_event.body, p_template::text, v_game::text);
            v_hash := sha256(v_hash || convert_to(v_body, 'UTF8'));
            INSERT INTO events VALUES (v_game, v_event.version, v_body, v_hash);
        END LOOP;
    END LOOP;
END
$f$
"""


def measure(database: Server, pool: Pool, events: int) -> None:
    """Grow the record to so many events, and measure at several sizes on the way."""
    executor, dice = Executor(Store(pool)), random.Random(5)
    game = started(executor, "halleluja", seats=4)
    while not game.over:
        game = moved(executor, game, dice)
    database.execute(_GROW)
    print(f"\n{'events':>12} {'moves/s':>9} {'cold load ms':>13} {'audited games/s':>16}")
    for target in (0, events // 4, events):
        _grow(database, game.game_id, game.version, target)
        database.execute("VACUUM ANALYZE")
        database.execute("CHECKPOINT")
        ((count,),) = database.execute("SELECT count(*) FROM events")
        sample = _sample(database)
        print(
            f"{count:>12,} {_moves(executor):>9.0f} {_load_ms(pool, sample):>13.2f}"
            f" {_audits(pool, sample):>16.1f}",
            flush=True,
        )


def _grow(database: Server, template: str, length: int, target: int) -> None:
    while True:
        ((count,),) = database.execute("SELECT count(*) FROM events")
        games = min(BATCH_GAMES * 10, -(-(target - int(str(count))) // length))
        if games <= 0:
            return
        database.execute(f"SELECT bench_grow('{template}', {games})")


def _sample(database: Server) -> list[str]:
    rows = database.execute(
        "SELECT game_id::text FROM games WHERE options <> '{}' AND started_version IS NOT NULL"
        " ORDER BY random() LIMIT 200"
    )
    return [str(row[0]) for row in rows]


def _moves(executor: Executor) -> float:
    def play(number: int) -> int:
        dice, count = random.Random(number), 0
        game = started(executor, "vallelujah", seats=3)
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            game = moved(executor, game, dice)
            count += 1
            if game.over:
                game = started(executor, "vallelujah", seats=3)
        return count

    with ThreadPoolExecutor(THREADS) as threads:
        return sum(threads.map(play, range(THREADS))) / SECONDS


def _load_ms(pool: Pool, sample: list[str]) -> float:
    store = Store(pool, games=0)
    return statistics.median(_seconds(lambda g=each: store.load(g)) for each in sample) * 1000


def _audits(pool: Pool, sample: list[str]) -> float:
    auditor = Auditor(pool)
    return 1 / statistics.median(_seconds(lambda g=each: auditor.game(g)) for each in sample[:50])


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
