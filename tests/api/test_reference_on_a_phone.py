"""`/docs` in a phone's browser without a network: can be read, and sends requests with a token."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.api import browsing
from tests.api.browsing import Page
from tests.api.matches import registered
from tests.api.server import Server, serving
from tests.databases import Scratch

pytestmark = pytest.mark.skipif(
    not (browsing.DRIVER and browsing.BROWSER), reason="needs chromium and chromedriver"
)
LEAST_PIXELS = 11
"""The smallest letters that can be read on a phone."""


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(scratch, tmp_path_factory.mktemp("phone")) as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing.browsing(tmp_path_factory.mktemp("browser")) as page:
        page.open(f"{server.url}/docs")
        page.wait(".opblock")
        yield page


def opened(page: Page, operation: str) -> str:
    """Open an operation; the selector of what belongs to it."""
    block = f'.opblock[id$="-{operation}"]'
    if not page.count(f"{block}.is-open"):
        page.press(f"{block} .opblock-summary-control")
    page.wait(f"{block} .responses-wrapper")
    return block


def test_nothing_stands_out_and_all_can_be_read(page: Page) -> None:
    assert page.too_wide() == []
    for operation in ("createGame", "listEvents", "makeMove", "registerPlayer"):
        opened(page, operation)
        assert page.too_wide() == [], operation
    sizes = page.run(
        "return [...document.querySelectorAll('body *')]"
        ".filter((e) => !e.children.length && e.innerText?.trim() && e.getClientRects().length)"
        ".map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= LEAST_PIXELS
    fields = page.run(
        "return [...document.querySelectorAll('input, textarea, select')]"
        ".map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(fields) >= 16


def test_it_sends_requests_with_a_token(page: Page, server: Server) -> None:
    me = registered(server.url, "Phone")
    page.press(".btn.authorize")
    page.type(".auth-container input", str(me.token))
    assert page.too_wide() == []
    page.press(".auth-btn-wrapper .authorize")
    page.press(".auth-btn-wrapper .btn-done")
    block = opened(page, "createGame")
    page.press(f"{block} .execute")
    answer = f"{block} .live-responses-table .response"
    page.wait(f"{answer} .highlight-code")
    assert page.text(f"{answer} .response-col_status").strip().startswith("201")
    assert page.too_wide() == []
    game = json.loads(page.text(f"{answer} .highlight-code code"))
    assert me.get(f"/games/{game['game_id']}").body["host"] == 0
    me.close()


def test_it_asked_nobody_else(page: Page) -> None:
    assert page.errors() == []
    hosts = page.run(
        "return [...new Set(performance.getEntriesByType('resource').map((e) =>"
        " new URL(e.name).host).concat([location.host]))]"
    )
    assert len(hosts) == 1, hosts
