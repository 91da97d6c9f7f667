"""Calls of webhooks: to addresses that were looked at, and bounded whatever the other side does."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from eventstore import destinations
from eventstore.destinations import Destinations
from tests.workers.receivers import Receiver, answers, hangs, receiver
from tests.workers.servers import free_port, silent_listener
from workers.posting import Poster, Reply

HOST = "hooks.example.com"
PUBLIC = "93.184.215.14"


def post(poster: Poster, url: str) -> Reply:
    return poster.post(url, {"webhook-id": "1"}, b'{"type": "ping"}')


def anywhere(**more: float) -> Poster:
    return Poster(Destinations(anywhere=True), **more)  # type: ignore[arg-type]


def test_a_message_arrives_as_it_was_sent() -> None:
    with receiver() as server:
        reply = post(anywhere(), server.url)
    assert reply.delivered
    (received,) = server.received
    assert received.path == "/hook?a=b"
    assert received.body == b'{"type": "ping"}'
    assert received.headers["host"] == f"127.0.0.1:{server.port}"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["webhook-id"] == "1"


def test_no_redirect_is_followed() -> None:
    with receiver() as other, receiver(answers(307, Location=other.url)) as server:
        reply = post(anywhere(), server.url)
    assert reply.status == 307
    assert not reply.delivered
    assert not other.received


def test_when_to_come_again_is_read_within_reason() -> None:
    for status, text, seconds in (
        (429, "120", 120), (503, "9" * 400, 86_400), (503, "soon", 0), (500, "60", 0),
    ):  # fmt: skip
        with receiver(answers(status, Retry_After=text)) as server:
            reply = post(anywhere(), server.url)
        assert (reply.status, reply.retry_after) == (status, seconds)


def _drips(receiver: Receiver, handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not receiver.over.wait(0.05):
        handler.wfile.write(b"X: y\r\n")


def _floods(receiver: Receiver, handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not receiver.over.is_set():
        handler.wfile.write(b"y" * 65_536)


def _babbles(_: Receiver, handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"* OK IMAP4rev1 ready\r\n\r\n")


def _continues(receiver: Receiver, handler: BaseHTTPRequestHandler) -> None:
    while not receiver.over.is_set():
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize(
    ("behaviour", "errors"),
    [
        (hangs, {"timeout"}),
        (_drips, {"timeout", "not-http"}),
        (_floods, {"not-http"}),
        (_babbles, {"not-http"}),
        (_continues, {"not-http", "timeout"}),
    ],
)
def test_whatever_a_receiver_does_the_call_ends(behaviour: object, errors: set[str]) -> None:
    with receiver(behaviour) as server:  # type: ignore[arg-type]
        reply = post(anywhere(seconds=0.7), server.url)
    assert reply.status is None
    assert reply.error in errors


def test_a_body_without_end_is_nobodys_business() -> None:
    def endless(receiver: Receiver, handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not receiver.over.is_set():
            handler.wfile.write(b"y" * 65_536)

    with receiver(endless) as server:
        assert post(anywhere(), server.url).delivered


def test_who_is_not_there() -> None:
    assert post(anywhere(), f"http://127.0.0.1:{free_port()}/").error == "unreachable"
    with silent_listener() as port:
        assert post(anywhere(seconds=0.5), f"https://127.0.0.1:{port}/").error == "timeout"
    with receiver() as server:
        tls = server.url.replace("http:", "https:")
        assert post(anywhere(), tls).error == "tls"


def test_only_public_addresses_are_called() -> None:
    """A name that meant something else when it was registered, or that means two things."""
    with receiver() as server:
        for found in (
            ["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["::ffff:127.0.0.1"], ["fe80::1%lo"],
            ["169.254.169.254"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"], ["not an address"],
        ):  # fmt: skip
            poster = Poster(Destinations(resolve=lambda _host, _port, found=found: found))  # type: ignore[misc]
            assert post(poster, f"https://{HOST}:{server.port}/").error == "closed-address", found
        closed = Poster(Destinations())
        assert post(closed, server.url).error == "closed-address"
        assert post(closed, f"https://127.0.0.1:{server.port}/").error == "closed-address"
    assert not server.received


def _raises(*_: object) -> list[str]:
    raise socket.gaierror("no such name")


def test_a_name_without_an_address() -> None:
    assert post(Poster(Destinations(resolve=_raises)), f"https://{HOST}/").error == "unresolved"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for HOST that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


def test_a_name_is_looked_up_once_and_the_address_that_was_looked_at_is_called(
    authority: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name means another address each time that anyone asks: what was found first counts, and
    the certificate is held against the name."""
    # As if this machine's own address were one of the public ones.
    own = ipaddress.ip_address("127.0.0.1")
    public = destinations.is_public
    monkeypatch.setattr(
        destinations, "is_public", lambda address: address == own or public(address)
    )
    found = iter([["127.0.0.1"]])

    def rebound(host: str, port: int) -> list[str]:
        assert host == HOST
        return next(found, ["10.0.0.1"])

    names: list[str | None] = []
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(*authority)
    server_side.sni_callback = lambda _socket, name, _context: names.append(name)
    client_side = ssl.create_default_context(cafile=authority[0])
    with receiver(context=server_side) as server:
        poster = Poster(Destinations(resolve=rebound), context=client_side)
        reply = post(poster, f"https://{HOST}:{server.port}/hook")
        assert reply.delivered, reply
        assert server.received[0].headers["host"] == f"{HOST}:{server.port}"
        assert names == [HOST]
        assert post(poster, f"https://{HOST}:{server.port}/hook").error == "closed-address"
        assert len(server.received) == 1
        other = Poster(
            Destinations(resolve=lambda _host, _port: ["127.0.0.1"]), context=client_side
        )
        assert post(other, f"https://other.example.com:{server.port}/").error == "tls"
