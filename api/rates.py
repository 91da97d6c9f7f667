"""How many requests a token and an address may send: counted in windows of time, told in every
answer (draft-ietf-httpapi-ratelimit-headers-10), refused with 429 beyond that.

Counted in this process, or where an operator names a store, for all processes together. A store
that is away stops nobody: meanwhile each process counts by itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from flask import Flask, Response, current_app, g, request
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter

from domain.wording import Sentence

from . import addresses
from .allowances import Allowances
from .logs import log
from .problems import Problem

T = TypeVar("T")

_EXTENSION = "abbot-rates"
UNCOUNTED = ("/healthz", "/readyz", "/metrics")
"""What machines of the operator ask all the time."""
STORE_SECONDS = 0.25
"""How long a store may take to answer."""
STORE_AWAY_SECONDS = 5.0
"""How long a store that did not answer is left alone."""


def now() -> float:
    """Seconds since 1970; windows begin at multiples of their length."""
    return time.time()


class Windows(Storage):
    """Counters in memory for windows that all begin at the same time and are dropped whole, so no
    thread has to look for old ones."""

    STORAGE_SCHEME = ["abbot-windows"]

    def __init__(self, uri: str | None = None, **options: Any) -> None:
        super().__init__(uri, **options)
        self._lock = threading.Lock()
        self._windows: dict[float, tuple[int, Counter[str]]] = {}
        """By length: the number of the window that runs, and its counters."""

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count `amount` more for `key`; the count so far."""
        number = int(now() // expiry)
        with self._lock:
            window = self._windows.get(expiry)
            if window is None or window[0] != number:
                window = self._windows[expiry] = (number, Counter())
            window[1][key] += amount
            return window[1][key]

    def get(self, key: str) -> int:
        """The count of `key` in its window."""
        found = self._found(key)
        return 0 if found is None else found[1]

    def get_expiry(self, key: str) -> float:
        """When the window of `key` ends."""
        found = self._found(key)
        return now() if found is None else found[0]

    def _found(self, key: str) -> tuple[float, int] | None:
        with self._lock:
            for expiry, (number, counts) in self._windows.items():
                if key in counts and number == int(now() // expiry):
                    return (number + 1) * expiry, counts[key]
        return None

    def check(self) -> bool:
        return True

    def reset(self) -> int | None:
        with self._lock:
            self._windows.clear()
        return None

    def clear(self, key: str) -> None:
        with self._lock:
            for _, counts in self._windows.values():
                counts.pop(key, None)


@dataclass(frozen=True, slots=True)
class Policy:
    """So many requests in a window of time for each key; `name` is what clients see, `template`
    what they are told with the facts `quota` and `seconds` when the window is full."""

    name: str
    item: RateLimitItem
    template: str

    @property
    def quota(self) -> int:
        return self.item.amount

    @property
    def seconds(self) -> int:
        return int(self.item.get_expiry())


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of a policy's quota, and in how many seconds it is whole again."""

    policy: Policy
    remaining: int
    reset_seconds: int


@dataclass(slots=True)
class Rates:
    """The counters of an application."""

    allowances: Allowances
    token: Policy | None = field(init=False)
    app: Policy | None = field(init=False)
    address: Policy | None = field(init=False)
    registrations: Policy | None = field(init=False)
    _own: FixedWindowRateLimiter = field(init=False)
    _shared: FixedWindowRateLimiter | None = field(init=False, default=None)
    _away_until: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        allowed = self.allowances
        minute, hour = RateLimitItemPerMinute, RateLimitItemPerHour
        self.token = _policy(
            "token",
            minute,
            allowed.requests_per_token,
            "{quota} requests are taken for this token in one minute; try again in {seconds} s.",
        )
        self.app = _policy(
            "app",
            minute,
            allowed.requests_per_app,
            "{quota} requests are taken for this app in one minute; try again in {seconds} s.",
        )
        self.address = _policy(
            "address",
            minute,
            allowed.requests_per_address,
            "{quota} requests are taken from this address in one minute; try again in {seconds} s.",
        )
        self.registrations = _policy(
            "registrations",
            hour,
            allowed.registrations_per_address,
            "{quota} players may register from this address in one hour; try again in {seconds} s.",
        )
        self._own = FixedWindowRateLimiter(Windows())
        if allowed.store:
            self._shared = FixedWindowRateLimiter(_store(allowed.store))

    def client(self) -> str | None:
        """By what the running request's address is counted; None if it is not."""
        return addresses.client(
            request.environ.get("REMOTE_ADDR", ""),
            request.headers.getlist("X-Forwarded-For"),
            self.allowances.trusted_proxies,
        )

    def count(self, policy: Policy | None, key: str | None) -> None:
        """Count the running request under `key`; a 429 if that is too many."""
        if policy is None or key is None:
            return
        allowed, standing = self._ask(lambda limiter: _hit(limiter, policy, key))
        g.setdefault("standings", []).append(standing)
        if not allowed:
            raise _too_many(standing)

    def require_left(self, policy: Policy | None, key: str | None) -> None:
        """A 429 if `key` has used up its quota; counts nothing."""
        if policy is None or key is None:
            return
        standing = self._ask(lambda limiter: _standing(limiter, policy, key))
        if standing.remaining <= 0:
            g.setdefault("standings", []).append(standing)
            raise _too_many(standing)

    def _ask(self, question: Callable[[FixedWindowRateLimiter], T]) -> T:
        if self._shared is not None and time.monotonic() >= self._away_until:
            try:
                return question(self._shared)
            except Exception as error:
                # Whatever a store's client raises: nobody is refused for that.
                self._away_until = time.monotonic() + STORE_AWAY_SECONDS
                log.warning("limits-store-away", error=type(error).__name__)
        return question(self._own)


def _policy(
    name: str, kind: Callable[[int], RateLimitItem], quota: int, template: str
) -> Policy | None:
    return Policy(name, kind(quota), template) if quota else None


def _store(url: str) -> Storage:
    waits = {"socket_timeout": STORE_SECONDS, "socket_connect_timeout": STORE_SECONDS}
    return storage_from_string(url, **(waits if url.startswith(("redis", "valkey")) else {}))


def _hit(limiter: FixedWindowRateLimiter, policy: Policy, key: str) -> tuple[bool, Standing]:
    allowed = limiter.hit(policy.item, policy.name, key)
    return allowed, _standing(limiter, policy, key)


def _standing(limiter: FixedWindowRateLimiter, policy: Policy, key: str) -> Standing:
    stats = limiter.get_window_stats(policy.item, policy.name, key)
    seconds = max(1, math.ceil(stats.reset_time - now()))
    return Standing(policy, max(0, stats.remaining), min(seconds, policy.seconds))


def _too_many(standing: Standing) -> Problem:
    policy, seconds = standing.policy, standing.reset_seconds
    return Problem(
        "rate-limited",
        Sentence(policy.template, quota=policy.quota, seconds=seconds),
        headers={"Retry-After": str(seconds)},
    )


def rates() -> Rates:
    """The counters of the running application."""
    found: Rates = current_app.extensions[_EXTENSION]
    return found


def address() -> str | None:
    """By what the running request's address is counted; None if it is not."""
    if "address" not in g:
        g.address = rates().client()
    found: str | None = g.address
    return found


def count_caller(token_id: str, *, app: bool = False) -> None:
    """Count a request with a valid token."""
    counters = rates()
    if app:
        counters.count(counters.app, token_id)
        return
    counters.count(counters.address, address())
    counters.count(counters.token, token_id)


def count_stranger() -> None:
    """Count a request whose token is not valid."""
    counters = rates()
    counters.count(counters.address, address())


def count_registration() -> None:
    """Count a player who registers."""
    counters = rates()
    counters.count(counters.registrations, address())


def used_up() -> Problem:
    """429 as if the running request had been one too many."""
    standings: list[Standing] = g.get("standings", [])
    if not standings:
        return Problem(
            "rate-limited", "Too many requests; try again soon.", headers={"Retry-After": "1"}
        )
    standings[-1] = replace(standings[-1], remaining=0, reset_seconds=1)
    return _too_many(standings[-1])


def register(app: Flask, allowances: Allowances) -> None:
    """Count the requests of `app`, and tell its callers how many more they may send."""
    app.extensions[_EXTENSION] = Rates(allowances)

    @app.before_request
    def _count() -> None:
        if request.path in UNCOUNTED or request.method == "OPTIONS":
            return
        counters = rates()
        if "Authorization" in request.headers and request.url_rule is not None:
            # Counted once it is known whose it is.
            counters.require_left(counters.address, address())
        else:
            counters.count(counters.address, address())

    @app.after_request
    def _tell(response: Response) -> Response:
        standings: list[Standing] = g.get("standings", [])
        if standings:
            response.headers["RateLimit-Policy"] = ", ".join(
                f'"{each.policy.name}";q={each.policy.quota};w={each.policy.seconds}'
                for each in standings
            )
            response.headers["RateLimit"] = ", ".join(
                f'"{each.policy.name}";r={each.remaining};t={each.reset_seconds}'
                for each in standings
            )
        return response
