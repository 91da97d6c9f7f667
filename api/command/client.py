"""A small client of the API: what the demo's players hold in their hands."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from api.command.console import CommandFailed

TRIES = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of a response; the body is None where it is not JSON."""

    status: int
    body: Any

    @property
    def code(self) -> str:
        """The problem's code, "" where it is none."""
        return self.body.get("code", "") if isinstance(self.body, dict) else ""


class Unreachable(CommandFailed):
    """No server answers at that address."""


class Client:
    """Calls as one player, over one connection. Not to be shared by threads.

    url: where the server is, without `/v1`. seconds: how long one call may take.
    """

    def __init__(self, url: str, token: str | None = None, *, seconds: float = 40.0) -> None:
        self.url = url
        self.token = token
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise CommandFailed(f"{url!r} is not the URL of a server")
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._connection = kind(parts.hostname, parts.port, timeout=seconds)
        self._base = parts.path.rstrip("/") + "/v1"

    def get(self, path: str, **query: object) -> Answer:
        """GET as JSON; raises CommandFailed for anything but a 2xx."""
        return self._expect("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: object = None) -> Answer:
        """POST JSON; raises CommandFailed for anything but a 2xx."""
        return self._expect("POST", path, {} if body is None else body)

    def try_post(self, path: str, body: object) -> Answer:
        """POST JSON and give back whatever the answer is."""
        return self._call("POST", path, body)

    def history(self, path: str) -> list[dict[str, Any]]:
        """GET events as newline-delimited JSON, without the signed head that ends them."""
        text = self._call("GET", path, accept="application/x-ndjson").body
        if not isinstance(text, str):
            raise CommandFailed(f"GET {path}: no newline-delimited JSON came")
        lines = [json.loads(line) for line in text.splitlines()]
        return [line for line in lines if line["type"] != "export.signed"]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _expect(self, method: str, path: str, body: object = None) -> Answer:
        answer = self._call(method, path, body)
        if not 200 <= answer.status < 300:
            detail = answer.body.get("detail", "") if isinstance(answer.body, dict) else ""
            raise CommandFailed(f"{method} {path}: {answer.status} {answer.code} {detail}".rstrip())
        return answer

    def _call(
        self, method: str, path: str, body: object = None, *, accept: str = "application/json"
    ) -> Answer:
        """One call, made again after a lost connection, a 429 or a 503; its key keeps it one."""
        headers = {"Accept": accept, "User-Agent": "abbot-demo"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        content = None
        if body is not None:
            content = json.dumps(body)
            headers["Content-Type"] = "application/json"
        if method == "POST" and self.token:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        for attempt in range(TRIES):
            if attempt:
                time.sleep(min(1.0, 0.1 * 2**attempt))
            try:
                self._connection.request(method, self._base + path, content, headers)
                response = self._connection.getresponse()
                raw = response.read()
            except ConnectionRefusedError as error:
                self._connection.close()
                if attempt == 2:
                    raise Unreachable(
                        f"no server answers at {self.url} (start one with ./abbot up)"
                    ) from error
                continue
            except (OSError, http.client.HTTPException):
                self._connection.close()
                continue
            if response.status in {429, 503}:
                continue
            kind = response.headers.get_content_type()
            if kind.endswith("json") and kind != "application/x-ndjson":
                return Answer(response.status, json.loads(raw) if raw else None)
            return Answer(response.status, raw.decode())
        raise CommandFailed(f"{method} {path}: the server did not answer, tried {TRIES} times")
