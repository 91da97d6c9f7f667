"""The public keys, as RFC 7517 and RFC 8037 write them."""

from __future__ import annotations

from .fields import Answered, many, open_text, text


class PublicKey(Answered):
    """An Ed25519 key as a JWK."""

    kty = open_text("The kind of key.", ("OKP",), required=True)
    crv = open_text("The curve.", ("Ed25519",), required=True)
    x = text("The public key, base64url.", required=True)
    kid = text("Its id: the key's thumbprint by RFC 7638.", required=True)
    alg = open_text("The algorithm.", ("EdDSA",), required=True)
    use = open_text("What it is for.", ("sig",), required=True)


class KeySet(Answered):
    """A JWK set."""

    keys = many(PublicKey, "The keys, the oldest first.", required=True)
