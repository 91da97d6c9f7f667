"""Compact JWS (RFC 7515) with Ed25519 (RFC 8037) over canonical JSON: receipts and signed heads.

The header carries the public key itself besides its id, the key's RFC 7638 thumbprint. So anyone
can see that a text is unchanged since it was signed; whose key it is tells a trusted list alone.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from .recorded import canonical

ALGORITHM = "EdDSA"
LONGEST = 8192
"""Characters of a JWS at most; what is signed here is far shorter."""


class BadSignature(ValueError):
    """A signature that is not one, or not of what it stands under; the text says why."""


class UnknownKey(BadSignature):
    """The signature's key is not in the list of trusted ones."""


class Signed(NamedTuple):
    """What a JWS says, and the id of the key that signed it."""

    payload: dict[str, Any]
    kid: str


def public_jwk(key: OKPKey) -> dict[str, Any]:
    """The members of the public key that its thumbprint is made of."""
    shown = key.as_dict(private=False)
    return {name: shown[name] for name in ("crv", "kty", "x")}


def entry(kid: str, jwk: Mapping[str, Any]) -> dict[str, Any]:
    """The public key as a JWKS lists it."""
    return {**jwk, "kid": kid, "alg": ALGORITHM, "use": "sig"}


def header(key: OKPKey) -> str:
    """The protected header of what `key` signs, encoded."""
    members = {"alg": ALGORITHM, "jwk": public_jwk(key), "kid": key.thumbprint()}
    return _encode(canonical(members))


def sign(key: OKPKey, encoded_header: str, payload: Mapping[str, Any]) -> str:
    """The compact JWS of `payload`'s canonical JSON."""
    text = f"{encoded_header}.{_encode(canonical(dict(payload)))}"
    private = key.private_key
    assert isinstance(private, Ed25519PrivateKey)
    signature: bytes = private.sign(text.encode())
    return f"{text}.{_encode(signature)}"


def read(jws: str) -> Signed:
    """What `jws` says, if it is intact: signed by the key that its own header carries.

    BadSignature for anything else. Whose key that is has to be asked of a list: see `verify`.
    """
    if len(jws) > LONGEST or not jws.isascii():
        raise BadSignature("it is no compact JWS")
    parts = jws.split(".")
    if len(parts) != 3:
        raise BadSignature("it is no compact JWS")
    head, payload, signature = (_decode(part) for part in parts)
    members = _object(head, "header")
    kid, jwk = members.get("kid"), members.get("jwk")
    if (
        set(members) != {"alg", "jwk", "kid"}
        or members["alg"] != ALGORITHM
        or not isinstance(kid, str)
        or not isinstance(jwk, dict)
    ):
        raise BadSignature("its header is not alg EdDSA, jwk and kid")
    key = _key(jwk)
    if key.thumbprint() != kid:
        raise BadSignature("the key id is not that of the key")
    public = key.public_key
    assert isinstance(public, Ed25519PublicKey)
    try:
        public.verify(signature, f"{parts[0]}.{parts[1]}".encode())
    except InvalidSignature:
        raise BadSignature("the signature is not of this text") from None
    return Signed(_object(payload, "payload"), kid)


def verify(jws: str, jwks: Mapping[str, Any]) -> dict[str, Any]:
    """What `jws` says, if it is intact and signed by a key that is listed in `jwks`.

    BadSignature if not; UnknownKey, one of them, where only the key is not listed.
    """
    signed = read(jws)
    if signed.kid not in kids(jwks):
        raise UnknownKey(f"the key {signed.kid} is not among the trusted ones")
    return signed.payload


def kids(jwks: Mapping[str, Any]) -> set[str]:
    """The thumbprints of the Ed25519 keys in a JWKS; other keys are passed over."""
    listed = jwks.get("keys")
    if not isinstance(listed, list):
        raise ValueError("it is no JWKS: an object with a list `keys`")
    found = set()
    for each in listed:
        if isinstance(each, dict) and each.get("kty") == "OKP" and each.get("crv") == "Ed25519":
            key = _key({name: each.get(name) for name in ("crv", "kty", "x")})
            found.add(str(key.thumbprint()))
    return found


def _key(jwk: dict[str, Any]) -> OKPKey:
    if (
        set(jwk) != {"crv", "kty", "x"}
        or (jwk["kty"], jwk["crv"]) != ("OKP", "Ed25519")
        or not isinstance(jwk["x"], str)
        or len(_decode(jwk["x"])) != 32
    ):
        raise BadSignature("its key is no Ed25519 key")
    try:
        return OKPKey.import_key(dict(jwk))
    except (JoseError, ValueError):
        raise BadSignature("its key is no Ed25519 key") from None


def _object(text: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
        if isinstance(value, dict) and canonical(value) == text:
            return value
    except (ValueError, TypeError, RecursionError):
        pass
    raise BadSignature(f"its {name} is no canonical JSON object")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """base64url without padding; only the one spelling that each value has."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature("it is not base64url") from None
    if _encode(data) != text:
        raise BadSignature("it is not base64url in its one spelling")
    return data
