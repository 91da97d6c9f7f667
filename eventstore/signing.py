"""The keys that sign receipts and heads of records.

Private keys are files of a folder, readable by their owner alone; the last one by name signs.
Every public key also stands in the table `signing_keys`, so that all nodes serve the same list,
and a key that was retired stays in it: what it signed can be checked for ever.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from psycopg.types.json import Jsonb

from .database import Database
from .errors import Unavailable
from .jws import BadSignature, UnknownKey, entry, header, public_jwk, sign, verify
from .pool import Pool
from .settings import SettingsError
from .sql import RFC3339

__all__ = ["BadSignature", "Key", "KeyFolder", "Signer", "UnknownKey", "rotate", "verify"]

log = logging.getLogger(__name__)

_PUBLISH: LiteralString = """
INSERT INTO signing_keys (kid, public_key, retired_at)
VALUES (%(kid)s, %(public_key)s, CASE WHEN %(retired)s THEN clock_timestamp() END)
ON CONFLICT (kid) DO NOTHING
"""

_RETIRE: LiteralString = """
UPDATE signing_keys SET retired_at = clock_timestamp() WHERE kid = %(kid)s AND retired_at IS NULL
"""

_KEYS: LiteralString = f"""
SELECT kid, public_key, to_char(created_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(retired_at AT TIME ZONE 'UTC', '{RFC3339}')
FROM signing_keys ORDER BY created_at, kid
"""


class Key(NamedTuple):
    """A public key as the table lists it."""

    kid: str
    jwk: dict[str, Any]
    created_at: str
    retired_at: str | None


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    key: OKPKey

    @property
    def kid(self) -> str:
        return str(self.key.thumbprint())


class KeyFolder:
    """A folder of key files, `<number>-<kid>.json`, each a JWK. Where there is none yet, one of
    the processes that ask makes the first key, and all of them take it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> int:
        """A number that changes with the files in the folder."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def current(self) -> OKPKey:
        """The key that signs. SettingsError where there is none and none can be made."""
        key = self._signing()
        if key is not None:
            return key
        with self.locked():
            key = self._signing()
            if key is None:
                key = OKPKey.generate_key("Ed25519")
                self.write(key)
        return key

    def can_sign(self) -> bool:
        """Whether a key is there that can sign; makes none."""
        return self._signing() is not None

    def files(self) -> list[_File]:
        """The key files in the order of their names."""
        try:
            paths = sorted(path for path in self.folder.glob("*.json") if path.is_file())
        except OSError as error:
            raise _unusable(self.folder, error) from None
        return [_File(path, _load(path)) for path in paths]

    def write(self, key: OKPKey) -> Path:
        """Keep `key` as the last one; the folder is locked."""
        numbers = [path.name.partition("-")[0] for path in self.folder.glob("*.json")]
        number = 1 + max((int(text) for text in numbers if text.isdigit()), default=0)
        path = self.folder / f"{number:06d}-{key.thumbprint()}.json"
        _write(path, key.as_dict(private=True))
        return path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """The folder, existing, and no other process changing its files meanwhile."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _unusable(self.folder, error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _signing(self) -> OKPKey | None:
        keys = [file.key for file in self.files() if file.key.is_private]
        return keys[-1] if keys else None


class _Current(NamedTuple):
    key: OKPKey
    header: str
    state: int


class Signer:
    """Signs with the folder's current key, from any thread. A key is published before it signs."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self._database = Database(pool)
        self.folder = folder
        self._folder = KeyFolder(folder)
        self._lock = threading.Lock()
        self._current: _Current | None = None

    def prepare(self) -> None:
        """See to it that there is a key, so that `sign` cannot fail.

        SettingsError where none can be read or made, Unavailable where it cannot be published.
        """
        if self._current is None:
            self._take()

    def sign(self, payload: Mapping[str, Any]) -> str:
        """The compact JWS of `payload`."""
        current = self._current
        if current is None:
            current = self._take()
        elif current.state != self._folder.state():
            try:
                current = self._take()
            except (SettingsError, Unavailable) as error:
                log.warning("a change of the signing keys waits: %s", error)
        return sign(current.key, current.header, payload)

    def jwks(self) -> dict[str, Any]:
        """All public keys, retired ones too, as a JWK set (RFC 7517)."""
        self.prepare()
        return {"keys": [entry(key.kid, key.jwk) for key in self.listed()]}

    def listed(self) -> list[Key]:
        """All public keys, the oldest first."""
        return [Key(*row) for row in self._database.run(_KEYS, {})]

    def _take(self) -> _Current:
        with self._lock:
            state = self._folder.state()
            if self._current is not None and self._current.state == state:
                return self._current
            key = self._folder.current()
            # Looked at first, so that a process before a replica, which cannot publish, signs too.
            published = {each.kid for each in self.listed()}
            for file in self._folder.files():
                if file.kid not in published:
                    _publish(self._database, file.key, retired=not file.key.is_private)
            # Making the first key changes the folder; that is found at the next signature.
            self._current = _Current(key, header(key), state)
            return self._current


def rotate(pool: Pool, folder: Path) -> str:
    """Make a new key, which signs from now on, and return its id.

    The earlier keys of the folder are retired: they stay in the JWKS, and what is private of them
    is removed.
    """
    database, keys = Database(pool), KeyFolder(folder)
    with keys.locked():
        earlier = keys.files()
        key = OKPKey.generate_key("Ed25519")
        _publish(database, key)
        keys.write(key)
        for file in earlier:
            _publish(database, file.key)
            database.run(_RETIRE, {"kid": file.kid})
            if file.key.is_private:
                _write(file.path, public_jwk(file.key))
    return str(key.thumbprint())


def _publish(database: Database, key: OKPKey, *, retired: bool = False) -> None:
    parameters = {
        "kid": key.thumbprint(),
        "public_key": Jsonb(public_jwk(key)),
        "retired": retired,
    }
    database.run(_PUBLISH, parameters)


def _load(path: Path) -> OKPKey:
    try:
        jwk = json.loads(path.read_bytes())
        key = OKPKey.import_key(jwk)
        if key.as_dict(private=False).get("crv") != "Ed25519":
            raise ValueError
    except OSError as error:
        raise _unusable(path, error) from None
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise SettingsError(f"{path} is no Ed25519 key (a JWK, RFC 8037)") from None
    return key


def _write(path: Path, jwk: Mapping[str, Any]) -> None:
    """The whole file or none; only its owner may read it."""
    partial = path.with_suffix(".partial")
    try:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(jwk, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: OSError) -> SettingsError:
    return SettingsError(f"the signing keys in {path} cannot be used: {error.strerror}")
