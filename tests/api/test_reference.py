"""`/docs`: a reference that needs this server alone."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from api import reference
from tests.api.client import Client

HERE = "http://abbot.test/docs"


class Links(HTMLParser):
    """What a page refers to, and what it has inline."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.inline: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.urls.append(value)
            if name == "style" or name.startswith("on"):
                self.inline.append(name)

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style") and data.strip():
            self.inline.append(data)


@pytest.fixture
def links(nobody: Client) -> Links:
    page = nobody.get("/docs", expect=200)
    assert page.mimetype == "text/html"
    found = Links()
    found.feed(page.get_data(as_text=True))
    return found


def test_all_that_the_page_refers_to_is_served_here(nobody: Client, links: Links) -> None:
    own = {*reference.ASSETS, "openapi.yaml"} - {"plain.css"}
    assert {url.rpartition("/")[2] for url in links.urls} == own
    for url in links.urls:
        place = urlsplit(urljoin(HERE, url))
        assert place.netloc == urlsplit(HERE).netloc, url
        served = nobody.get(place.path, expect=200)
        assert served.get_data()


def test_its_script_asks_for_the_document_and_names_no_other_host(nobody: Client) -> None:
    script = nobody.get("/docs/reference.js", expect=200).get_data(as_text=True)
    assert re.findall(r'url: "([^"]+)"', script) == ["openapi.json"]
    assert "validatorUrl: null" in script
    assert "//" not in re.sub(r"^\s*//.*$", "", script, flags=re.MULTILINE)
    for name in ("reference.css", "swagger-ui.css"):
        sheet = nobody.get(f"/docs/{name}", expect=200).get_data(as_text=True)
        assert "@import" not in sheet
        urls = re.findall(r"""url\(\s*["']?([^"')]{5})""", sheet)
        assert set(urls) <= {"data:"}


def test_its_policy_lets_nothing_in_from_elsewhere(nobody: Client, links: Links) -> None:
    policy = nobody.get("/docs").headers["Content-Security-Policy"]
    rules = dict(rule.partition(" ")[::2] for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    sources = {source for rule in rules.values() for source in rule.split()}
    assert sources == {"'none'", "'self'", "data:"}
    assert links.inline == []
    assert nobody.get("/docs/reference.js").headers["Content-Security-Policy"] == policy


@pytest.mark.parametrize("name", reference.ASSETS)
def test_assets_are_packed_for_who_takes_that(nobody: Client, name: str) -> None:
    path = f"/docs/{name}"
    plain = nobody.get(path, expect=200)
    packed = nobody.get(path, headers={"Accept-Encoding": "gzip"}, expect=200)
    assert "Content-Encoding" not in plain.headers
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert plain.mimetype == packed.mimetype == reference.ASSETS[name][1]
    if "Content-Encoding" in packed.headers:
        assert packed.headers["ETag"] != plain.headers["ETag"]
        assert gzip.decompress(packed.get_data()) == plain.get_data()
        assert len(packed.get_data()) < len(plain.get_data())
    else:
        assert name.endswith(".png")
        assert packed.get_data() == plain.get_data()
    same = {"If-None-Match": packed.headers["ETag"], "Accept-Encoding": "gzip"}
    nobody.get(path, headers=same, expect=304)


def test_it_fits_a_phone(nobody: Client) -> None:
    page = nobody.get("/docs").get_data(as_text=True)
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert "@media (max-width" in nobody.get("/docs/reference.css").get_data(as_text=True)


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/index.html", "/docs/__init__.py", "/docs/..%2fapp.py", "/docs/a/b"]
)
def test_nothing_else_is_there(nobody: Client, path: str) -> None:
    nobody.get(path, expect=404)
