"""The key under which secrets are kept that the service must be able to read again.

It is a file in the folder of the signing keys, so that who has the database alone cannot sign as
this service. Rows name the key that they are sealed with.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .settings import SettingsError

FILE = "webhooks.key"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class Unsealable(ValueError):
    """It was not sealed with this key, or for something else."""


class Sealer:
    """Seals with AES-256-GCM. SettingsError where there is no key and none can be made."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._key: bytes | None = None

    @property
    def key_id(self) -> str:
        """Tells keys apart, and nothing else of the key."""
        return hashlib.sha256(b"key id:" + self._read()).hexdigest()[:16]

    def seal(self, plain: bytes, about: str) -> bytes:
        """`plain`, readable only with the key and for the same `about`."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._read()).encrypt(nonce, plain, about.encode())

    def open(self, sealed: bytes, about: str) -> bytes:
        """What was sealed; Unsealable otherwise."""
        nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return AESGCM(self._read()).decrypt(nonce, rest, about.encode())
        except (InvalidTag, ValueError):
            raise Unsealable("not sealed with this key") from None

    def _read(self) -> bytes:
        if self._key is None:
            try:
                if not self._path.exists():
                    self._make()
                key = base64.b64decode(self._path.read_bytes().strip(), validate=True)
            except binascii.Error:
                key = b""
            except OSError as error:
                raise SettingsError(
                    f"the key {self._path} cannot be used: {error.strerror}"
                ) from None
            if len(key) != _KEY_BYTES:
                raise SettingsError(f"{self._path} is not {_KEY_BYTES} bytes in base64")
            self._key = key
        return self._key

    def _make(self) -> None:
        """Make the key, whole or not at all; of several processes at once one makes it."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self._path.with_name(f".{FILE}.{secrets.token_hex(8)}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(partial, self._path)
        finally:
            partial.unlink()
