"""ETag, If-Match and If-None-Match."""

from __future__ import annotations

import pytest

from tests.api.client import Client
from tests.api.tables import Table


@pytest.mark.parametrize("form", ['"{}"', 'W/"{}"', '"x", "{}"', 'W/"x",W/"{}"', "*", ' "{}" '])
def test_what_has_not_changed(match: Table, form: str) -> None:
    for path in ("", "/legal-moves", "/events"):
        version = match.game()["version"]
        headers = {"If-None-Match": form.format(version)}
        answer = match.host.get(f"{match.url}{path}", headers=headers, expect=304)
        assert answer.headers["ETag"] == f'"{version}"'
        assert not answer.get_data()
        match.host.send("HEAD", f"{match.url}{path}", headers=headers, expect=304)


@pytest.mark.parametrize("form", ['"1"', 'W/"1"', '"{}r"', '"{}x"', '"", "1"'])
def test_what_has_changed(match: Table, form: str) -> None:
    headers = {"If-None-Match": form.format(match.game()["version"])}
    match.host.get(match.url, headers=headers, expect=200)


def test_lists_and_rulesets_have_tags_too(anna: Client) -> None:
    for path in ("/v1/rulesets", "/v1/rulesets/halleluja", "/v1/me", "/v1/me/tokens", "/v1/games"):
        etag = anna.get(path, expect=200).headers["ETag"]
        anna.get(path, headers={"If-None-Match": f"W/{etag}"}, expect=304)


def test_the_two_forms_of_history_have_different_tags(match: Table) -> None:
    page = match.host.get(f"{match.url}/events", expect=200)
    lines = match.host.get(
        f"{match.url}/events", headers={"Accept": "application/x-ndjson"}, expect=200
    )
    assert page.headers["ETag"] != lines.headers["ETag"]
    assert "Accept" in page.headers["Vary"]


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("value", ["", "17", '"17', "W/17", '"a" "b', 'w/"17"', '"a"b"', "* "])
def test_tags_that_cannot_be_read(match: Table, header: str, value: str) -> None:
    answer = match.host.get(match.url, headers={header: value})
    if value.strip() == "*":
        assert answer.status_code == (304 if header == "If-None-Match" else 200)
        return
    match.host.refused(answer, 400, "malformed-request")


@pytest.mark.parametrize("form", ['"{}"', '"x", "{}"', "*", '"1","{}"', '"{}r"'])
def test_a_change_of_the_version_that_one_has(match: Table, form: str) -> None:
    client, move = match.mover(), match.choice()
    headers = {"If-Match": form.format(match.game()["version"])}
    client.post(f"{match.url}/moves", move, headers=headers, expect=201)


@pytest.mark.parametrize("form", ['W/"{}"', '"1"', '"x"', '"1", W/"{}"', '""'])
def test_a_change_of_another_version(match: Table, form: str) -> None:
    client, move = match.mover(), match.choice()
    version = match.game()["version"]
    headers = {"If-Match": form.format(version)}
    for query in ("", "dry_run=true"):
        answer = client.post(f"{match.url}/moves", move, headers=headers, query=query)
        problem = client.refused(answer, 412, "precondition-failed")
        assert problem["version"] == version
        assert answer.headers["ETag"] == f'"{version}"'
    assert match.game()["version"] == version


def test_every_change_takes_a_condition(table: Table) -> None:
    host, stale = table.host, {"If-Match": '"1"'}
    code = host.post(f"{table.url}/invites", expect=201).get_json()["code"]
    for method, path, body in (
        ("PATCH", "", {"turn_seconds": 30}),
        ("POST", "/seats", {"bot": "random"}),
        ("PATCH", "/seats/me", {"ready": True}),
        ("DELETE", "/seats/me", None),
        ("DELETE", "/seats/1", None),
        ("POST", "/invites", None),
        ("DELETE", f"/invites/{code}", None),
        ("POST", "/start", None),
        ("POST", "/resign", None),
        ("POST", "/back", None),
        ("POST", "/rematch", None),
    ):
        answer = host.send(method, f"{table.url}{path}", body, headers=stale)
        host.refused(answer, 412, "precondition-failed")
    assert table.game()["version"] == 3


def test_what_one_may_not_do_comes_before_the_condition(table: Table, bert: Client) -> None:
    stale = {"If-Match": '"1"'}
    bert.refused(bert.post(f"{table.url}/start", headers=stale), 403, "forbidden")
    answer = table.host.patch(table.url, {"options": {"lead_all": True}}, headers=stale)
    table.host.refused(answer, 422, "validation")
