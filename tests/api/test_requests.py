"""The form of requests: what is checked before anything is looked at, and in which order."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from api.limits import MAX_BODY
from tests.api.client import Client
from tests.api.tables import Table

NOBODYS_GAME = "/v1/games/01900000-0000-7000-8000-000000000000"
JSON = "application/json"


def nested(depth: int) -> str:
    return '{"name":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "malformed-json"),
        ("{", "malformed-json"),
        ("nonsense", "malformed-json"),
        ('{"name": "A",}', "malformed-json"),
        ("{'name': 'A'}", "malformed-json"),
        ('{"name": NaN}', "malformed-json"),
        ('{"name": Infinity}', "malformed-json"),
        ('{"name": 1e400}', "malformed-json"),
        ('{"name": "A", "name": "B"}', "malformed-json"),
        ('{"name": {"a": 1, "a": 1}}', "malformed-json"),
        ('{"name": "\\ud800"}', "malformed-json"),
        (b'{"name": "\xff"}', "malformed-json"),
        (b'\xef\xbb\xbf{"name": "A"}', "malformed-json"),
        ('{"name": "A"}'.encode("utf-16"), "malformed-json"),
        ('{"name": "A\n"}', "malformed-json"),
        ("{} {}", "malformed-json"),
        ("[]", "malformed-request"),
        ("null", "malformed-request"),
        ('"A"', "malformed-request"),
        ("1", "malformed-request"),
        (nested(17), "malformed-request"),
        (nested(1000), "malformed-request"),
        (nested(30000), "malformed-request"),
        ("[" * 60000, "malformed-request"),
    ],
)
def test_a_body_that_is_no_json_object(nobody: Client, body: str | bytes, code: str) -> None:
    answer = nobody.post("/v1/players", data=body, content_type=JSON)
    nobody.refused(answer, 400, code)


@pytest.mark.parametrize(
    "body",
    [
        nested(16),
        "{}",
        '{"name": null}',
        '{"name": 7}',
        '{"name": "A\\u0000"}',
        '{"name": "A", "\\u0000": 1}',
        '{"name": "A", "age": 7}',
        '{"Name": "A"}',
        '{"name": 123456789012345678901234567890}',
        '{"name": ["A"]}',
    ],
)
def test_a_body_that_is_not_valid(nobody: Client, body: str) -> None:
    answer = nobody.post("/v1/players", data=body, content_type=JSON)
    problem = nobody.refused(answer, 422, "validation")
    sent = json.loads(body)
    assert problem["errors"]
    assert {each["field"] for each in problem["errors"]} <= {"name", *sent}


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/jsonp",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "nonsense",
    ],
)
def test_another_media_type(nobody: Client, content_type: str | None) -> None:
    answer = nobody.post("/v1/players", data='{"name": "A"}', content_type=content_type)
    nobody.refused(answer, 415, "unsupported-media-type")
    assert answer.headers["Accept"] == JSON


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "Application/JSON",
        "application/json; profile=x",
    ],
)
def test_spellings_of_json(nobody: Client, content_type: str) -> None:
    nobody.post("/v1/players", data='{"name": "A"}', content_type=content_type, expect=201)


def test_a_compressed_body(nobody: Client) -> None:
    answer = nobody.post("/v1/players", {"name": "A"}, headers={"Content-Encoding": "gzip"})
    nobody.refused(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize("value", ["1", 1.7, 1e300, True, None, [3], {"n": 3}])
def test_what_is_no_integer(anna: Client, value: object) -> None:
    body = {"ruleset": "halleluja", "turn_seconds": value}
    problem = anna.refused(anna.post("/v1/games", body), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["turn_seconds"]
    body = {"ruleset": "halleluja", "options": {"rounds_to_win": value}}
    problem = anna.refused(anna.post("/v1/games", body), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["options.rounds_to_win"]


def test_an_integer_may_be_written_with_a_point(table: Table, bert: Client) -> None:
    body = '{"turn_seconds": 90.0, "max_seats": 3e0, "options": {"rounds_to_win": 2.0}}'
    changed = table.host.patch(table.url, data=body, content_type=JSON, expect=200)
    game = changed.get_data(as_text=True)
    assert '"turn_seconds":90,' in game
    assert '"rounds_to_win":2,' in game
    assert changed.get_json()["max_seats"] == 3
    bert.patch(f"{table.url}/seats/me", {"ready": True}, expect=200)
    table.start()
    move = table.choice()
    for name in ("round", "turn"):
        move[name] = float(move[name])
    table.mover().post(f"{table.url}/moves", move, query="dry_run=true", expect=200)
    table.mover().post(f"{table.url}/moves", move, expect=201)


@pytest.mark.parametrize("value", ["true", 1, 0, "yes", None])
def test_what_is_no_boolean(anna: Client, value: object) -> None:
    body = {"ruleset": "halleluja", "options": {"mitre_wild": value}}
    problem = anna.refused(anna.post("/v1/games", body), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["options.mitre_wild"]


@pytest.mark.parametrize("text", ["", "1.7", "%201", "1%20", "%2B1", "+1", "-1", "01", "0x1", "1e1",
    "%EF%BC%91", "%D9%A1", "99999999999999999999", "0", "101", "true", "%00"])  # fmt: skip
def test_what_is_no_integer_in_a_query(nobody: Client, text: str) -> None:
    answer = nobody.get("/v1/games", query=f"limit={text}")
    problem = nobody.refused(answer, 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["limit"]


@pytest.mark.parametrize("text", ["", "1", "True", "yes", "%00"])
def test_what_is_no_boolean_in_a_query(anna: Client, text: str) -> None:
    anna.refused(anna.get("/v1/games", query=f"mine={text}"), 422, "validation")


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        ("/v1/games", "colour=red", "colour"),
        ("/v1/games", "limit=1&Limit=1", "Limit"),
        ("/v1/games", "limit=1&limit=1", "limit"),
        ("/v1/games", "colour", "colour"),
        ("/v1/games", "%00=1", "\x00"),
        ("/v1/rulesets", "limit=1", "limit"),
        ("/v1/me", "x=1", "x"),
        ("/healthz", "x=1", "x"),
        ("/openapi.json", "x=1", "x"),
    ],
)
def test_unknown_query_parameters(anna: Client, path: str, query: str, name: str) -> None:
    problem = anna.refused(anna.get(path, query=query), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == [name]


def test_faults_of_query_and_body_are_told_together(match: Table) -> None:
    client = match.mover()
    answer = client.post(f"{match.url}/moves", {"type": "fly", "x": 1}, query="dry=true")
    problem = client.refused(answer, 422, "validation")
    assert {each["field"] for each in problem["errors"]} == {"type", "x", "dry"}


def test_a_query_that_is_not_utf8(nobody: Client) -> None:
    nobody.refused(nobody.get("/v1/games", query="status=%ff"), 400, "malformed-request")


def test_too_large_a_body(anna: Client) -> None:
    largest = json.dumps({"name": "A" * (MAX_BODY - 12)})
    assert len(largest) == MAX_BODY
    problem = anna.refused(
        anna.post("/v1/players", data=largest, content_type=JSON), 422, "validation"
    )
    assert len(json.dumps(problem)) < 1000
    over = largest + " "
    for path in ("/v1/players", "/v1/nowhere", f"{NOBODYS_GAME}/moves"):
        anna.refused(anna.post(path, data=over, content_type="text/plain"), 413, "too-large")
    anna.refused(anna.get("/v1/me", data=over), 413, "too-large")


@pytest.mark.parametrize("size", [MAX_BODY + 1, 70_000, 200_000])
def test_too_large_a_body_of_unknown_length(anna: Client, size: int) -> None:
    answer = anna.flask.open("/v1/players", **_chunked(b"x" * size))
    anna.refused(answer, 413, "too-large")


def test_a_body_of_unknown_length(anna: Client) -> None:
    largest = b'{"name": "A"' + b" " * (MAX_BODY - 13) + b"}"
    assert anna.flask.open("/v1/players", **_chunked(largest)).status_code == 201


def _chunked(body: bytes) -> dict[str, Any]:
    """As a server passes a chunked body on: without a length, and with an end."""
    return {
        "method": "POST",
        "input_stream": BytesIO(body),
        "environ_overrides": {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
        "content_type": JSON,
    }


def test_many_faults_make_no_long_answer(anna: Client) -> None:
    body = {f"{'x' * 200}{number}": 1 for number in range(300)}
    problem = anna.refused(anna.post("/v1/games", body), 422, "validation")
    assert len(problem["errors"]) <= 50
    assert len(json.dumps(problem)) < 16000


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/players/",
        "/v1/games/",
        "/v1//games",
        "//v1/games",
        "/v1/games/x",
        "/v1/games/01900000000070008000000000000000",
        "/v1/games/%7B01900000-0000-7000-8000-000000000000%7D",
        "/v1/games/01900000-0000-7000-8000-00000000000g",
        "/v1/games/01900000-0000-7000-8000-0000000000000",
        f"{NOBODYS_GAME}/",
        f"{NOBODYS_GAME}/nowhere",
        "/v1%2Fgames",
        "/v1/games%2f",
        "/v1/%67ames%00",
        "/v1/games%0A",
        "/v1/../v1/games",
        "/static/x",
        "/v1/rulesets/Halleluja",
        "/v1/rulesets/hallelujah",
        "/v1/rulesets/%FF",
    ],
)
def test_paths_that_do_not_exist(anna: Client, path: str) -> None:
    anna.refused(anna.get(path), 404, "not-found")


@pytest.mark.parametrize("seat", ["-1", "00", "01", "1.0", "x", "%EF%BC%91", "100", "999999999999"])
def test_seats_that_do_not_exist(table: Table, seat: str) -> None:
    answer = table.host.delete(f"{table.url}/seats/{seat}")
    table.host.refused(answer, 404, "not-found")


def test_an_id_in_upper_case_is_the_same_id(table: Table) -> None:
    upper = table.host.get(f"/v1/games/{table.game_id.upper()}", expect=200)
    assert upper.get_json()["game_id"] == table.game_id


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/players", {"POST", "OPTIONS"}),
        ("DELETE", "/v1/games", {"GET", "HEAD", "POST", "OPTIONS"}),
        ("PUT", NOBODYS_GAME, {"GET", "HEAD", "PATCH", "OPTIONS"}),
        ("POST", "/healthz", {"GET", "HEAD", "OPTIONS"}),
        ("TRACE", "/v1/me", {"GET", "HEAD", "OPTIONS"}),
        ("BREW", "/v1/me", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_methods_that_do_not_exist(
    nobody: Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = nobody.send(method, path)
    nobody.refused(answer, 405, "method-not-allowed")
    assert set(answer.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/problem+json",
        "application/json;q=0",
        "*/*;q=0",
        "application/json;q=0, */*",
        "image/*",
        "nonsense",
    ],
)
def test_what_nobody_offers(nobody: Client, accept: str) -> None:
    answer = nobody.get("/v1/rulesets", headers={"Accept": accept})
    nobody.refused(answer, 406, "not-acceptable")


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/*", "application/json", "text/html, */*;q=0.1",
     "application/json; charset=utf-8", "APPLICATION/JSON", "text/html,application/json;q=0.9"],
)  # fmt: skip
def test_what_is_on_offer(nobody: Client, accept: str) -> None:
    nobody.get("/v1/rulesets", headers={"Accept": accept}, expect=200)


def test_head(anna: Client, table: Table) -> None:
    for path in ("/v1/me", "/v1/rulesets", "/v1/games", table.url, f"{table.url}/events"):
        got = anna.get(path, expect=200)
        head = anna.send("HEAD", path, expect=200)
        assert head.headers["ETag"] == got.headers["ETag"]
        assert head.headers["Content-Type"] == got.headers["Content-Type"]
    assert anna.send("HEAD", NOBODYS_GAME).status_code == 404


def test_options(nobody: Client) -> None:
    answer = nobody.send("OPTIONS", "/v1/games", expect=200)
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST", "OPTIONS"}


def test_a_browser_asks_first(nobody: Client) -> None:
    answer = nobody.send(
        "OPTIONS",
        f"{NOBODYS_GAME}/moves",
        headers={
            "Origin": "https://game.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
        },
        expect=200,
    )
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    allowed = answer.headers["Access-Control-Allow-Headers"].lower()
    assert all(name in allowed for name in ("authorization", "content-type", "idempotency-key"))
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_browser_reads_answers_and_errors(nobody: Client) -> None:
    origin = {"Origin": "https://game.example"}
    for answer in (
        nobody.get("/v1/rulesets", headers=origin, expect=200),
        nobody.get("/v1/me", headers=origin, expect=401),
        nobody.get("/v1/nowhere", headers=origin, expect=404),
    ):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        exposed = answer.headers["Access-Control-Expose-Headers"]
        assert all(name in exposed for name in ("ETag", "Link", "Location", "Retry-After"))


def test_the_request_id_is_given_back(nobody: Client) -> None:
    sent = nobody.get("/healthz", headers={"X-Request-Id": "abcd-1234"})
    assert sent.headers["X-Request-Id"] == "abcd-1234"
    odd = nobody.get("/healthz", headers={"X-Request-Id": "a b"})
    assert odd.headers["X-Request-Id"] != "a b"


class TestOrder:
    """Each check comes before the next: a request that fails both is told of the first."""

    over = b" " * (MAX_BODY + 1)

    def test_size_before_path(self, nobody: Client) -> None:
        nobody.refused(nobody.post("/v1/nowhere", data=self.over), 413, "too-large")

    def test_path_before_method(self, nobody: Client) -> None:
        nobody.refused(nobody.send("PUT", "/v1/nowhere"), 404, "not-found")

    def test_method_before_token(self, nobody: Client) -> None:
        nobody.refused(nobody.send("PUT", "/v1/me"), 405, "method-not-allowed")

    def test_token_before_accept(self, nobody: Client) -> None:
        answer = nobody.get("/v1/me", headers={"Accept": "text/html"})
        nobody.refused(answer, 401, "unauthenticated")

    def test_accept_before_content_type(self, anna: Client) -> None:
        headers = {"Accept": "text/html"}
        answer = anna.post("/v1/games", data="x", content_type="text/plain", headers=headers)
        anna.refused(answer, 406, "not-acceptable")

    def test_content_type_before_form(self, anna: Client) -> None:
        answer = anna.post(f"{NOBODYS_GAME}/moves", data="{", content_type="text/plain")
        anna.refused(answer, 415, "unsupported-media-type")

    def test_form_before_sight(self, anna: Client) -> None:
        answer = anna.post(f"{NOBODYS_GAME}/moves", data="{", content_type=JSON)
        anna.refused(answer, 400, "malformed-json")

    def test_sight_before_rights_and_values(self, anna: Client) -> None:
        answer = anna.post(f"{NOBODYS_GAME}/moves", {"type": "fly"})
        anna.refused(answer, 404, "not-found")

    def test_rights_before_values(self, match: Table, anna: Client) -> None:
        stranger = anna.register("Carl")
        answer = stranger.post(f"{match.url}/moves", {"type": "fly"})
        stranger.refused(answer, 403, "forbidden")
        answer = stranger.patch(match.url, {"turn_seconds": -1})
        stranger.refused(answer, 403, "forbidden")
        answer = stranger.post(f"{match.url}/seats", {"bot": "nonsense"})
        stranger.refused(answer, 403, "forbidden")

    def test_values_before_the_precondition(self, match: Table) -> None:
        stale = {"If-Match": '"1"'}
        client = match.mover()
        answer = client.post(f"{match.url}/moves", {"type": "fly"}, headers=stale)
        client.refused(answer, 422, "validation")
        # Only the referee knows that this is no move of Halleluja, and still it comes first.
        for query in ("", "dry_run=true"):
            answer = client.post(
                f"{match.url}/moves", {"type": "lead", "units": []}, headers=stale, query=query
            )
            client.refused(answer, 422, "validation")

    def test_the_precondition_before_conflicts(self, match: Table) -> None:
        stale = {"If-Match": '"1"'}
        client = match.other()
        answer = client.post(f"{match.url}/moves", {"type": "draw"}, headers=stale)
        client.refused(answer, 412, "precondition-failed")
        answer = client.post(f"{match.url}/moves", {"type": "draw"})
        client.refused(answer, 409, "not-your-turn")

    def test_conflicts_before_the_rules(self, match: Table) -> None:
        client = match.other()
        held = match.game(client)["you"]["hand"]
        absent = "A-rose" if "A-rose" not in held else "A-apple"
        answer = client.post(f"{match.url}/moves", {"type": "play", "card": absent})
        client.refused(answer, 409, "not-your-turn")
