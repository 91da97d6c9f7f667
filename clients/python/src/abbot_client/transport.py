"""Sends a request again where that is safe, until there is an answer or patience ends."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import httpx

AGAIN = (429, 502, 503, 504)
"""Statuses of answers that say: not now."""
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 10.0
"""Seconds between two tries: doubled each time, up to this, unless `Retry-After` says more."""
SAFE_IN_ANY_CASE = (httpx.ConnectError, httpx.ConnectTimeout)
"""After these nothing has been sent."""
STREAM = "text/event-stream"


def pauses(first: float, longest: float) -> Iterator[float]:
    """Seconds to wait before each next try, with some chance in them."""
    pause = first
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(2 * pause, longest)


def repeatable(request: httpx.Request) -> bool:
    """Whether the request counts once, however often it is sent."""
    return request.method != "POST" or "Idempotency-Key" in request.headers


def asked_pause(response: httpx.Response) -> float:
    """The seconds in `Retry-After`, 0 if there are none."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else 0.0


class PatientTransport(httpx.BaseTransport):
    """An httpx transport around another. `patience`: for how many seconds a request is tried.

    A request that is neither a read nor carries an `Idempotency-Key` is sent again only if it has
    not reached the server, or was turned away as one too many (429). Streams are not sent again:
    who reads them knows from where to go on.
    """

    def __init__(
        self, patience: float = 60.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.patience = patience
        self._transport = transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get("Accept") == STREAM:
            return self._transport.handle_request(request)
        request.read()
        give_up = time.monotonic() + self.patience
        for drawn in pauses(FIRST_PAUSE, LONGEST_PAUSE):
            pause = drawn
            try:
                response = self._transport.handle_request(request)
                try:
                    response.read()
                finally:
                    response.close()
                if response.status_code in AGAIN and "json" not in response.headers.get(
                    "Content-Type", ""
                ):
                    raise httpx.RemoteProtocolError(
                        f"{response.status_code} from something between here and the API",
                        request=request,
                    )
            except httpx.TransportError as error:
                may = repeatable(request) or isinstance(error, SAFE_IN_ANY_CASE)
                if not may or time.monotonic() + pause > give_up:
                    raise
            else:
                pause = max(drawn, asked_pause(response))
                may = response.status_code in AGAIN and (
                    repeatable(request) or response.status_code == 429
                )
                if not may or time.monotonic() + pause > give_up:
                    return response
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def close(self) -> None:
        self._transport.close()
