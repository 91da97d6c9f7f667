"""The threads of a node that call webhooks. Nothing else of the node waits for them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from domain.webhooks import signature
from eventstore.deliveries import LONGEST_PAUSE_SECONDS, Claimed, Deliveries, Due, State
from eventstore.sealing import Sealer, Unsealable
from workers import figures
from workers.posting import Poster
from workers.settling import described

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""A webhook whose sender died is called by another after so long."""

TURN_SECONDS = 5.0
"""After so long with one webhook it is another's turn."""

SLOW_SECONDS = 2.0
"""One that takes longer to answer counts as slow."""

APP_AT_ONCE = 8
"""So many messages at a time are sent to an app's webhook, which is told of many games, once it has
taken one; not while it is slow or fails. A player's gets one after the other."""

LONGEST_SLEEP_SECONDS = 1.0
"""A message that another node made due is seen this much later at the latest."""


class Sender:
    """Claims webhooks and sends what waits for them, each in a thread of its own.

    places: how many are called at a time. At most half of them are for webhooks that are slow or
    failed the last time, so that these never keep the others waiting.
    """

    def __init__(
        self,
        deliveries: Callable[[], Deliveries],
        sealer: Sealer,
        poster: Poster,
        *,
        places: int,
        lease: float = LEASE_SECONDS,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._deliveries = deliveries
        self._sealer = sealer
        self._poster = poster
        self._places = {True: max(1, places // 2), False: places}
        self._busy = {True: 0, False: 0}
        self._lease = lease
        self._turn_seconds = turn_seconds
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._failing = False
        self._threads: set[threading.Thread] = set()
        self._thread = threading.Thread(target=self._run, name="abbot-webhooks", daemon=True)

    def start(self) -> None:
        """Start the thread that claims."""
        self._thread.start()

    def wake(self) -> None:
        """Something may be due."""
        self._woken.set()

    def stop(self) -> None:
        """Claim nothing more and begin no further request. Returns at once."""
        self._stopping.set()
        self._woken.set()

    def join(self, seconds: float) -> None:
        """Wait for what is under way, `seconds` at most; what is left is sent again by others."""
        until = time.monotonic() + seconds
        with self._lock:
            threads = [self._thread, *self._threads]
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                pause = self.tick()
            except BaseException as error:
                if not self._failing:
                    log.warning("Webhooks cannot be called: %s. Trying again.", described(error))
                self._failing = True
                pause = LONGEST_SLEEP_SECONDS
            else:
                self._failing = False
            self._woken.wait(pause)

    def tick(self) -> float:
        """Claim what is due, as far as there are places; the seconds to wait before the next
        tick."""
        deliveries, key_id = self._deliveries(), self._sealer.key_id
        full = False
        for slow in (False, True):
            free = self._free(slow)
            claimed = deliveries.claim(key_id, free, self._lease, slow=slow) if free else []
            full = full or len(claimed) == free
            for each in claimed:
                self._begin(each, slow)
        if full:  # whoever ends wakes this thread
            return LONGEST_SLEEP_SECONDS
        wait = deliveries.wait(key_id)
        if wait is None:
            return LONGEST_SLEEP_SECONDS
        return min(LONGEST_SLEEP_SECONDS, max(0.02, wait))

    def _free(self, slow: bool) -> int:
        with self._lock:
            free = self._places[False] - sum(self._busy.values())
            return min(free, self._places[slow] - self._busy[slow])

    def _begin(self, claimed: Claimed, slow: bool) -> None:
        def call() -> None:
            try:
                self.serve(claimed)
            except BaseException as error:
                # It is claimed again when its lease has run out.
                log.error("The webhook %s failed: %s", claimed.webhook_id, described(error))
            finally:
                with self._lock:
                    self._busy[slow] -= 1
                    self._threads.discard(threading.current_thread())
                self._woken.set()

        thread = threading.Thread(target=call, name="abbot-webhook", daemon=True)
        with self._lock:
            self._busy[slow] += 1
            self._threads.add(thread)
        thread.start()

    def serve(self, claimed: Claimed) -> None:
        """Send what is due for one webhook, until something fails or it is another's turn."""
        deliveries = self._deliveries()
        began = time.monotonic()
        try:
            secrets = self._secrets(claimed)
        except Unsealable:
            log.error("The secret of the webhook %s cannot be read.", claimed.webhook_id)
            return
        for part in _parts(claimed, deliveries.due(claimed.webhook_id)):
            if self._stopping.is_set() or time.monotonic() - began > self._turn_seconds:
                break
            states = self._send_all(deliveries, claimed, secrets, part)
            known = [state for state in states if state is not None]
            if len(known) < len(states):
                return
            if not all(state.enabled for state in known):
                break
            failed = [state for state in known if state.failures]
            if failed:
                deliveries.disable_if_too_much_waits(claimed)
                failures = min(state.failures for state in failed)
                pause = min(2.0 ** min(failures, 20), LONGEST_PAUSE_SECONDS)
                deliveries.release(claimed, max(pause, *(state.rest for state in failed)))
                return
        deliveries.release(claimed)

    def _secrets(self, claimed: Claimed) -> list[bytes]:
        sealed = [claimed.secret, claimed.old_secret]
        return [self._sealer.open(each, claimed.webhook_id) for each in sealed if each is not None]

    def _send_all(
        self, deliveries: Deliveries, claimed: Claimed, secrets: list[bytes], part: list[Due]
    ) -> list[State | None]:
        """Send some messages at the same time."""
        if len(part) == 1:
            return [self._send(deliveries, claimed, secrets, part[0])]
        with ThreadPoolExecutor(len(part), "abbot-webhook") as threads:
            return list(
                threads.map(lambda due: self._send(deliveries, claimed, secrets, due), part)
            )

    def _send(
        self, deliveries: Deliveries, claimed: Claimed, secrets: list[bytes], due: Due
    ) -> State | None:
        """Send one message: how its webhook stands then, None if it is no longer ours."""
        if due.payload is None:
            attempt: dict[str, Any] = {"error": "no-event", "duration_ms": 0}
            return deliveries.note(claimed, due, attempt, delivered=False)
        body = orjson.dumps(due.payload)
        timestamp = int(time.time())
        headers = {
            "webhook-id": due.delivery_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secrets, due.delivery_id, timestamp, body),
        }
        reply = self._poster.post(claimed.url, headers, body)
        figures.observe_delivery(reply.delivered, reply.seconds)
        attempt = {"duration_ms": round(1000 * reply.seconds)}
        if reply.status is not None:
            attempt["status_code"] = reply.status
        if reply.error is not None:
            attempt["error"] = reply.error
        return deliveries.note(
            claimed,
            due,
            attempt,
            delivered=reply.delivered,
            gone=reply.status == 410,
            slow=reply.seconds > SLOW_SECONDS,
            least_wait=reply.retry_after,
        )


def _parts(claimed: Claimed, waiting: list[Due]) -> Iterator[list[Due]]:
    """What is sent at the same time. The first message alone: it shows whether it is taken."""
    yield from ([due] for due in waiting[:1])
    at_once = APP_AT_ONCE if claimed.owner_kind == "app" and not claimed.slow else 1
    for start in range(1, len(waiting), at_once):
        yield waiting[start : start + at_once]
