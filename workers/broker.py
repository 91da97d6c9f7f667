"""What the brokers ask for: URL schemes and the options that keep a hung one from hanging us."""

from __future__ import annotations

from typing import Any

SCHEMES = {"valkey": "redis", "valkeys": "rediss", "rabbitmq": "amqp"}

Options = dict[str, Any]


def kombu_url(url: str) -> str:
    """The URL in the scheme that kombu knows: Valkey speaks Redis' protocol."""
    scheme, separator, rest = url.partition("://")
    return f"{SCHEMES.get(scheme, scheme)}{separator}{rest}"


def is_amqp(url: str) -> bool:
    """Whether the URL names an AMQP broker such as RabbitMQ."""
    return kombu_url(url).startswith(("amqp", "pyamqp"))


def consumer_options(url: str) -> Options:
    """Transport options of the connection that tasks are taken from.

    Without a socket timeout an acknowledgement to a broker that went away without closing its
    connection waits for ever. The wait for a task itself is not bound by it.
    """
    if is_amqp(url):
        return {"write_timeout": 5}
    return {
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }


def publisher_options(url: str, seconds: float) -> Options:
    """Transport options of the timer's own connection: every wait ends after about `seconds`.

    An AMQP publish is only a write to a socket, which a hung broker's kernel still accepts, so
    the broker must confirm each. kombu's own retries would hide a refused connection.
    """
    if is_amqp(url):
        whole = max(1, round(seconds))
        options: Options = {"confirm_publish": True, "read_timeout": whole, "write_timeout": whole}
    else:
        options = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    return {**options, "max_retries": 0}
