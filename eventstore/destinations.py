"""Where webhooks may go: which URLs are taken, and which addresses are called.

Whoever registers a URL has this service call it, so it must lead to the public Internet and to
nothing that only this machine or its network can reach. A name is resolved once for each call, all
of its addresses are looked at, and one of those is connected to: whatever the name means a moment
later is of no interest.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.wording import Sentence, sentence

MOST_CHARACTERS = 2048
HTTPS, HTTP = 443, 80

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]
"""The addresses of a host name, for a port; OSError where it has none."""

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_VISIBLE = re.compile(r"[\x21-\x7e]+")

# The IANA registries of special-purpose addresses, and multicast.
_CLOSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
"""Global unicast. Mapped and compatible IPv4 addresses, NAT64, unique local, link-local, site-local
and multicast ones are all outside."""
_CLOSED_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, with Teredo and ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries any IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
)


class Unfit(ValueError):
    """A URL that is not taken; `detail` says why, for whoever sent it."""

    def __init__(self, template: str) -> None:
        self.detail = sentence(template)
        super().__init__(self.detail)


class ClosedAddress(OSError):
    """A name that leads, or also leads, to an address that is not public."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL taken apart."""

    tls: bool
    host: str
    """A name in lower case, or an address without brackets."""
    port: int
    target: str
    """The path and query."""

    @property
    def authority(self) -> str:
        """The value of `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (HTTPS if self.tls else HTTP) else f"{host}:{self.port}"


def is_public(address: Address) -> bool:
    """Whether anyone on the Internet reaches the same there."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    if address.scope_id is not None or address not in _OPEN_6:
        return False
    return not any(address in network for network in _CLOSED_6)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host name, as the system resolves it."""
    # A dot at the end keeps the search list of the machine's own network out.
    name = f"{host}." if "." in host and not _is_address(host) else host
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@dataclass(frozen=True, slots=True)
class Destinations:
    """Which destinations are allowed. `anywhere` allows `http`, every port and every address, for
    development alone."""

    anywhere: bool = False
    resolve: Resolve = resolve

    def parse(self, url: str) -> Destination:
        """The URL's parts; Unfit where such a URL is not taken, whatever its name leads to."""
        if len(url) > MOST_CHARACTERS or not _VISIBLE.fullmatch(url) or "\\" in url:
            raise Unfit(
                Sentence(
                    "Must be a URL of at most {most} visible ASCII characters.",
                    most=MOST_CHARACTERS,
                )
            )
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise Unfit("Must be a URL.") from None
        schemes = ("https", "http") if self.anywhere else ("https",)
        if parts.scheme not in schemes:
            raise Unfit("Must be an https URL.")
        if parts.username is not None or parts.password is not None or "#" in url:
            raise Unfit("Must have no user and no fragment.")
        tls = parts.scheme == "https"
        if port is None:
            port = HTTPS if tls else HTTP
        if not self.anywhere and port != HTTPS and port < 1024:
            raise Unfit("The port must be 443, or 1024 or above.")
        if port == 0:
            raise Unfit("There is no port 0.")
        self._check_host(host, bracketed="[" in parts.netloc)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Destination(tls, host, port, target)

    def _check_host(self, host: str, *, bracketed: bool) -> None:
        if _is_address(host):
            if bracketed != (":" in host) or not self._allows(host):
                raise Unfit("Must lead to a public address.")
            return
        labels = host.split(".")
        # What ends in a number is meant as an address, and systems read those in many ways.
        numeric = re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) is not None
        if bracketed or numeric or len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
            raise Unfit("Must name a host.")
        local = labels[-1] in ("localhost", "local", "internal")
        if not self.anywhere and (len(labels) < 2 or local):
            raise Unfit("Must lead to a public address.")

    def addresses(self, destination: Destination) -> list[str]:
        """Where the destination can be reached now.

        ClosedAddress if one of its addresses is not allowed, another OSError if it has none.
        """
        if _is_address(destination.host):
            found = [destination.host]
        else:
            try:
                found = self.resolve(destination.host, destination.port)
            except UnicodeError as error:
                raise OSError("no host name") from error
        if not found:
            raise OSError("no address")
        if not all(map(self._allows, found)):
            raise ClosedAddress("not a public address")
        return found

    def check(self, url: str) -> None:
        """Unfit for a URL that is not taken, or that leads nowhere or to what is not public now."""
        destination = self.parse(url)
        try:
            self.addresses(destination)
        except ClosedAddress:
            raise Unfit("Must lead to a public address.") from None
        except OSError:
            raise Unfit("The host's name has no address.") from None

    def _allows(self, address: str) -> bool:
        try:
            return self.anywhere or is_public(ipaddress.ip_address(address))
        except ValueError:
            return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
