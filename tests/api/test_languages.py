"""German and English over HTTP: which one is chosen, and what is told in it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api import languages
from domain.registry import RULESETS
from domain.wording import ENGLISH, GERMAN
from tests.api.client import Client
from tests.api.tables import Table

DE = {"Accept-Language": "de"}


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        (None, ENGLISH),
        ("", ENGLISH),
        ("de", GERMAN),
        ("DE", GERMAN),
        ("de-AT", GERMAN),
        ("de-AT, en;q=0.9", GERMAN),
        ("de-Latn-CH-1996;q=0.7, en;q=0.6", GERMAN),
        ("en-GB", ENGLISH),
        ("en;q=0.5, de;q=0.8", GERMAN),
        ("en;q=0.8, de;q=0.5", ENGLISH),
        ("en, de", ENGLISH),
        ("de, en", GERMAN),
        ("fr", ENGLISH),
        ("fr, de;q=0.1", GERMAN),
        ("de;q=0", ENGLISH),
        ("de;q=0, *", ENGLISH),
        ("en;q=0, *;q=0.1", GERMAN),
        ("*", ENGLISH),
        ("*;q=0", ENGLISH),
        ("de;q=0.1, *;q=0.9", ENGLISH),
        ("de;q=0.2, en;q=0.1, *", GERMAN),
        ("den", ENGLISH),
        ("de;q=high", ENGLISH),
        (";;, ,=;q, \x7f\x80, de", GERMAN),
        ("en" * 2000, ENGLISH),
        (",".join(["xx;q=0.3"] * 500) + ",de;q=0.2", GERMAN),
    ],
)
def test_which_language(app: Flask, asked: str | None, language: str) -> None:
    headers = {} if asked is None else {"Accept-Language": asked}
    with app.test_request_context(headers=headers):
        assert languages.preferred() == language


def _spoken(answer: TestResponse, language: str) -> Any:
    assert answer.headers["Content-Language"] == language
    assert {"Accept-Language", "Authorization"} <= set(answer.vary)
    return answer.get_json()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_ruleset(nobody: Client, ruleset: str) -> None:
    path, rules = f"/v1/rulesets/{ruleset}", RULESETS[ruleset]
    english = _spoken(nobody.get(path, expect=200), ENGLISH)
    german = _spoken(nobody.get(path, headers=DE, expect=200), GERMAN)
    own = rules.translations[GERMAN]
    assert {rule["id"]: rule["wording"] for rule in german["rules"]} == own.rules
    assert {each["name"]: each["meaning"] for each in german["options"]} == own.options
    assert {term["id"]: term["name"] for term in german["terms"]} == own.terms
    assert {rule["id"]: rule["wording"] for rule in english["rules"]} == {
        rule.id: rule.wording for rule in rules.rules
    }
    assert {term["id"]: term["name"] for term in english["terms"]} == {
        term.id: term.name for term in rules.terms
    }
    assert _without_words(german) == _without_words(english)
    listed = _spoken(nobody.get("/v1/rulesets", headers=DE, expect=200), GERMAN)
    assert german in listed["items"]


def _without_words(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_words(each) for each in value]
    if isinstance(value, dict):
        words = ("wording", "meaning") + (("name",) if "kind" in value else ())
        return {name: _without_words(each) for name, each in value.items() if name not in words}
    return value


def test_the_tag_of_one_language_is_not_that_of_the_other(nobody: Client) -> None:
    path = "/v1/rulesets/halleluja"
    english, german = (nobody.get(path, headers=headers) for headers in ({}, DE))
    assert english.headers["ETag"] != german.headers["ETag"]
    had = {"If-None-Match": english.headers["ETag"]}
    unchanged = nobody.get(path, headers=had, expect=304)
    assert "Accept-Language" in unchanged.vary
    nobody.get(path, headers={**had, **DE}, expect=200)
    nobody.get(path, headers={"If-None-Match": german.headers["ETag"], **DE}, expect=304)


def test_a_game_is_the_same_in_every_language(match: Table) -> None:
    client = match.mover()
    english = client.get(match.url)
    german = client.get(match.url, headers=DE, expect=200)
    assert german.headers["ETag"] == english.headers["ETag"]
    assert "Content-Language" not in german.headers
    client.get(match.url, headers={"If-None-Match": english.headers["ETag"], **DE}, expect=304)
    tag = {"If-Match": english.headers["ETag"]}
    client.post(f"{match.url}/moves", match.choice(), headers={**tag, **DE}, expect=201)
    answer = client.post(f"{match.url}/resign", headers={**tag, **DE})
    problem = client.refused(answer, 412, "precondition-failed")
    assert problem["title"] == "Das Spiel hat eine andere Version"
    assert problem["detail"] == f"Das Spiel ist jetzt bei Version {problem['version']}."


def test_a_refused_move(match: Table) -> None:
    client = match.mover()
    hand = match.game(client)["you"]["hand"]
    card = next(card for card in RULESETS["halleluja"].cards if card not in hand)
    move = {"type": "play", "card": card}
    refused = [
        _spoken(client.post(f"{match.url}/moves", move, headers=headers), language)
        for headers, language in (({}, ENGLISH), (DE, GERMAN))
    ]
    english, german = refused
    spelt = RULESETS["halleluja"].translations[GERMAN].words[card]
    assert german["detail"] == f"Du hältst {spelt} nicht."
    assert german["title"] == "Der Zug ist nicht erlaubt"
    assert german["wording"] == "Man spielt eine Karte der eigenen Hand."
    assert english["detail"] == f"You do not hold {card}."
    told = ("title", "detail", "wording", "attempt_id")
    assert {name for name in english if english[name] != german[name]} == set(told)
    # Kept is the English one: an attempt is a record.
    kept = client.get(f"{match.url}/attempts", headers=DE, expect=200).get_json()["items"]
    assert {each["detail"] for each in kept} == {english["detail"]}


def test_a_dry_run(match: Table) -> None:
    client, move = match.mover(), match.choice()
    english, german = (
        _spoken(
            client.post(f"{match.url}/moves", move, query="dry_run=true", headers=headers), language
        )
        for headers, language in (({}, ENGLISH), (DE, GERMAN))
    )
    assert {name for name in english if english[name] != german[name]} == {"wording", "detail"}
    assert german["wording"] == match_rules(match).wording(german["rule"], GERMAN)
    assert german["detail"] != english["detail"]


def match_rules(match: Table) -> Any:
    return RULESETS[match.game()["ruleset"]]


def test_values_that_are_not_valid(anna: Client) -> None:
    body = {"ruleset": "chess", "turn_seconds": 1, "colour": "red", "options": {"away_after": 0}}
    answer = anna.post("/v1/games", body, headers=DE)
    problem = anna.refused(answer, 422, "validation")
    _spoken(answer, GERMAN)
    faults = {error["field"]: error["message"] for error in problem["errors"]}
    assert faults == {
        "ruleset": "Muss eines von diesen sein: halleluja, vallelujah.",
        "turn_seconds": "Muss zwischen 3 und 1209600 liegen.",
        "colour": "Unbekanntes Feld.",
        "options.away_after": "Muss zwischen 1 und 100 liegen.",
    }
    assert sorted(problem["detail"].split("; ")) == sorted(
        f"{field}: {message}" for field, message in faults.items()
    )


def test_what_the_referee_finds_wrong_with_values(anna: Client) -> None:
    body = {"ruleset": "vallelujah", "options": {"mitre_wild": True}}
    answer = anna.post("/v1/games", body, headers=DE)
    problem = anna.refused(answer, 422, "validation")
    assert problem["errors"] == [
        {"field": "options.mitre_wild", "message": "ist keine Option dieses Spiels"}
    ]
    assert problem["detail"] == "options.mitre_wild: ist keine Option dieses Spiels"


def test_before_any_view(nobody: Client) -> None:
    for path, detail in (
        (
            "/v1/nowhere",
            "Diesen Pfad gibt es nicht, oder er enthält etwas, das keine id ist.",
        ),
        ("/v1/me", "Das braucht ein Token: Authorization: Bearer abbot_…"),
    ):
        assert _spoken(nobody.get(path, headers=DE), GERMAN)["detail"] == detail
