"""Pages for people who follow a link: `/`, and the `type` of each problem."""

from __future__ import annotations

import pytest

from api.languages import catalogue
from api.problems import KINDS
from domain.wording import GERMAN
from tests.api.client import Client


def test_the_root_leads_to_the_reference(nobody: Client) -> None:
    led = nobody.get("/", expect=302)
    assert led.headers["Location"] == "/docs"
    nobody.get("/docs", expect=200)


@pytest.mark.parametrize("code", KINDS)
def test_the_type_of_a_problem_says_what_it_means(nobody: Client, code: str) -> None:
    page = nobody.get(f"/problems/{code}", expect=200)
    assert page.mimetype == "text/html"
    assert page.headers["Content-Language"] == "en"
    text = page.get_data(as_text=True)
    assert KINDS[code].meaning.replace("'", "&#x27;") in text
    assert str(KINDS[code].status) in text
    german = nobody.get(f"/problems/{code}", headers={"Accept-Language": "de"}, expect=200)
    told = catalogue(GERMAN).told(KINDS[code].meaning)
    assert told in german.get_data(as_text=True)
    assert 'lang="de"' in german.get_data(as_text=True)


def test_a_problem_that_was_met_leads_to_its_page(nobody: Client) -> None:
    met = nobody.get("/v1/games/no-id", expect=404).get_json()
    assert "an id in it" in met["detail"]
    assert met["title"] in nobody.get(met["type"], expect=200).get_data(as_text=True)


def test_all_of_them_are_listed(nobody: Client) -> None:
    text = nobody.get("/problems", expect=200).get_data(as_text=True)
    assert all(f'href="/problems/{code}"' in text for code in KINDS)


def test_no_other_problem_has_a_page(nobody: Client) -> None:
    for code in ("no-such", "<script>", "x" * 100):
        nobody.get(f"/problems/{code}", expect=404)
    nobody.get("/problems/validation?x=1", expect=422)
