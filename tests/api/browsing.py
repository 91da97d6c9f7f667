"""A phone's browser without a screen, spoken to by WebDriver (https://www.w3.org/TR/webdriver2/)."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.workers.servers import free_port, wait_for

WIDTH, HEIGHT = 390, 844
"""CSS pixels of a common phone."""
DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # As on a machine without a network.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
_PHONE = {"deviceMetrics": {"width": WIDTH, "height": HEIGHT, "pixelRatio": 1.0, "touch": True}}


class Page:
    """What the browser shows."""

    def __init__(self, port: int, session: str) -> None:
        self._session = f"http://127.0.0.1:{port}/session/{session}"

    def open(self, url: str) -> None:
        _call("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script in the page returns."""
        sent = {"script": script, "args": list(arguments)}
        return _call("POST", f"{self._session}/execute/sync", sent)

    def count(self, selector: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def press(self, selector: str) -> None:
        """Press what is there, once it is."""
        self.wait(selector)
        self.run(
            "const e = document.querySelector(arguments[0]);"
            "e.scrollIntoView({block: 'center'}); e.click()",
            selector,
        )

    def type(self, selector: str, text: str) -> None:
        """Type into a field, as a person does."""
        self.wait(selector)
        found = _call(
            "POST", f"{self._session}/element", {"using": "css selector", "value": selector}
        )
        _call("POST", f"{self._session}/element/{found[_ELEMENT]}/value", {"text": text})

    def wait(self, selector: str) -> None:
        """Wait until something is there."""
        wait_for(lambda: self.count(selector), 60, f"{selector} is there")

    def too_wide(self) -> list[str]:
        """What stands out at the side, and cannot be scrolled to by itself."""
        found: list[str] = self.run(_TOO_WIDE)
        return found

    def errors(self) -> list[str]:
        """What the browser complained of."""
        log = _call("POST", f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]


_TOO_WIDE = """
const width = document.documentElement.clientWidth, found = [];
const scrolls = (e) => ["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX);
for (const e of document.querySelectorAll("body *")) {
  const box = e.getBoundingClientRect();
  if (!box.width || (box.right <= width + 1 && box.left >= -1)) continue;
  let up = e.parentElement;
  while (up && !scrolls(up)) up = up.parentElement;
  if (!up) found.push(`${e.tagName} ${e.className}`);
}
if (document.documentElement.scrollWidth > width) found.push("the page itself");
return found;
"""


@contextmanager
def browsing(folder: Path) -> Iterator[Page]:
    """A browser of its own on a phone."""
    port = free_port()
    driver = subprocess.Popen(
        [str(DRIVER), f"--port={port}", f"--log-path={folder / 'chromedriver.log'}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _ready(port), 60, "the driver is ready")
        options = {
            "binary": BROWSER,
            "args": [*_ARGUMENTS, f"--user-data-dir={folder / 'profile'}"],
            "mobileEmulation": _PHONE,
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        asked = {"capabilities": {"alwaysMatch": wanted}}
        session = _call("POST", f"http://127.0.0.1:{port}/session", asked)["sessionId"]
        try:
            yield Page(port, session)
        finally:
            _call("DELETE", f"http://127.0.0.1:{port}/session/{session}")
    finally:
        driver.terminate()
        driver.wait(60)


def _ready(port: int) -> bool:
    try:
        return bool(_call("GET", f"http://127.0.0.1:{port}/status")["ready"])
    except OSError:
        return False


def _call(method: str, url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["value"]
