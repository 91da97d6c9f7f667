"""Where a request comes from: the client's address, also behind proxies that are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

MAX_HOPS = 16
"""Entries of X-Forwarded-For that are looked at, from its end."""
_V6_PREFIX = 64
"""Bits of an IPv6 address that tell one network from another: a client has all that follow."""


def networks(text: str) -> tuple[Network, ...]:
    """The addresses and networks (CIDR) in a list with commas. ValueError for what is neither."""
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def within(peer: str, trusted: Sequence[Network]) -> bool:
    """Whether the other end of a connection is one of `trusted`."""
    address = _parsed(peer)
    return address is not None and any(address in network for network in trusted)


def client(peer: str, forwarded: Sequence[str], trusted: Sequence[Network]) -> str | None:
    """By what a client is counted: its IPv4 address, or the network of its IPv6 address; None for
    this machine itself, which is not counted.

    `peer` is the other end of the connection, `forwarded` the X-Forwarded-For fields as they came.
    Each proxy adds at the end who spoke to it, so they are read from there, for as long as it was
    a trusted proxy that said so; what stands before that anyone may have made up.
    """
    address = _parsed(peer)
    if address is None:
        # A local socket.
        return None
    hops = [hop for field in forwarded for hop in field[-1024:].split(",")][-MAX_HOPS:]
    while hops and any(address in network for network in trusted):
        before = _parsed(hops.pop())
        if before is None:
            break
        address = before
    if address.is_loopback:
        return None
    if address.version == 6:
        return str(ip_network((address, _V6_PREFIX), strict=False))
    return str(address)


def _parsed(text: str) -> Address | None:
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
