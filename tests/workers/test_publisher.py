"""The publisher against real brokers: it says in time whether the broker has a batch."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator
from typing import Protocol

import pytest
from celery import Celery
from kombu import Connection, Exchange, Queue

from tests.workers.servers import Valkey, free_port, silent_listener, valkey, wait_for
from workers import broker
from workers.outbox import CeleryOutbox
from workers.publisher import BOUND_SECONDS, Batch, Publisher

BATCH: Batch = [["0190", "turn", 1, 2], ["0191", "bot", 1, 3]]

PATIENCE = 30.0
"""For a broker that answers, however busy the machine is."""


class Publishing(Protocol):
    def __call__(self, url: str, bound: float = BOUND_SECONDS) -> tuple[Publisher, str]: ...


@pytest.fixture
def publishing() -> Iterator[Publishing]:
    """Makes a publisher to a queue of its own on the broker at a URL."""
    started: list[Publisher] = []

    def make(url: str, bound: float = BOUND_SECONDS) -> tuple[Publisher, str]:
        name = f"abbot.test.{uuid.uuid4().hex}"
        queue = Queue(name, Exchange(name, type="direct"), routing_key=name)
        app = Celery(
            broker=broker.kombu_url(url),
            task_default_queue=name,
            task_queues=[queue],
            set_as_current=False,
        )
        app.conf.broker_transport_options = broker.consumer_options(url)
        publisher = Publisher(lambda: CeleryOutbox(app), bound=bound, probe=0.2)
        publisher.start()
        started.append(publisher)
        return publisher, name

    yield make
    for publisher in started:
        publisher.stop()


@pytest.fixture(scope="module")
def private() -> Iterator[Valkey]:
    with valkey() as server:
        yield server


def taken(url: str, name: str) -> list[object]:
    """Take all messages from the queue and delete it."""
    bodies: list[object] = []
    with Connection(broker.kombu_url(url)) as connection:
        queue = Queue(name)(connection.default_channel)
        while (message := queue.get(no_ack=True)) is not None:
            bodies.append(message.payload[0][0])
        queue.delete()
        Exchange(name)(connection.default_channel).delete()
    return bodies


def offered(publisher: Publisher) -> tuple[bool, float]:
    """What an offer was answered, and the seconds it took."""
    began = time.monotonic()
    answer = publisher.offer([BATCH])
    return answer, time.monotonic() - began


def test_batches_reach_the_queue(publishing: Publishing, private: Valkey) -> None:
    publisher, name = publishing(private.url, PATIENCE)
    assert publisher.offer([BATCH, BATCH[:1]])
    assert taken(private.url, name) == [BATCH, BATCH[:1]]


def test_batches_reach_the_configured_broker(publishing: Publishing) -> None:
    url = os.environ.get("ABBOT_TEST_BROKER_URL", "redis://127.0.0.1:6379/15")
    publisher, name = publishing(url, PATIENCE)
    if not offered(publisher)[0] and "ABBOT_TEST_BROKER_URL" not in os.environ:
        pytest.skip("no broker at the default address")
    assert publisher.offer([BATCH])
    assert taken(url, name) == [BATCH, BATCH]


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_dead_broker_is_told_at_once(publishing: Publishing, scheme: str) -> None:
    publisher, _ = publishing(f"{scheme}://127.0.0.1:{free_port()}/0")
    answer, seconds = offered(publisher)
    assert not answer
    assert seconds < 10
    assert not publisher.up
    answer, seconds = offered(publisher)
    assert not answer
    assert seconds < 0.5


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_hung_broker_costs_one_bounded_wait(publishing: Publishing, scheme: str) -> None:
    with silent_listener() as port:
        publisher, _ = publishing(f"{scheme}://127.0.0.1:{port}/0")
        answer, seconds = offered(publisher)
        assert not answer
        assert seconds < 10
        for _ in range(20):
            answer, seconds = offered(publisher)
            assert not answer
            assert seconds < 0.5


def test_a_broker_that_hangs_in_between_comes_back(publishing: Publishing, private: Valkey) -> None:
    publisher, name = publishing(private.url)
    wait_for(lambda: publisher.offer([BATCH]), PATIENCE, "the publisher reaches the broker")
    private.signal(signal.SIGSTOP)
    try:
        answer, seconds = offered(publisher)
        assert not answer
        assert seconds < 10
    finally:
        private.signal(signal.SIGCONT)
    wait_for(lambda: publisher.offer([BATCH]), PATIENCE, "the publisher finds the broker again")
    assert BATCH in taken(private.url, name)


def test_a_broker_that_was_restarted_is_used_again(publishing: Publishing) -> None:
    with valkey() as server:
        publisher, name = publishing(server.url, PATIENCE)
        assert publisher.offer([BATCH])
        server.kill()
        server.start()
        assert publisher.offer([BATCH]), "one old connection is no reason to give the broker up"
        assert taken(server.url, name) == [BATCH]
        server.kill()
        assert not publisher.offer([BATCH])
        server.start()
        wait_for(lambda: publisher.up, PATIENCE, "the publisher finds the broker again")
        assert publisher.offer([BATCH])
