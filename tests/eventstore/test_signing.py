"""The keys that sign: one for all processes of a folder, rotated, and never forgotten."""

from __future__ import annotations

import base64
import json
import multiprocessing
import stat
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws as joserfc_jws
from joserfc.jwk import OKPKey

from eventstore import jws
from eventstore.pool import Pool, open_pool
from eventstore.settings import SettingsError
from eventstore.signing import BadSignature, Signer, UnknownKey, rotate, verify
from tests.databases import Scratch

PAYLOAD = {"game_id": "g", "version": 7, "hash": "00" * 32, "at": "now"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def signer(pool: Pool, folder: Path) -> Signer:
    return Signer(pool, folder)


def _private(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.json") if "d" in json.loads(path.read_text())]


def _kid(text: str) -> str:
    return jws.read(text).kid


def test_what_is_signed_verifies(signer: Signer) -> None:
    text = signer.sign(PAYLOAD)
    assert verify(text, signer.jwks()) == PAYLOAD
    assert jws.read(text).payload == PAYLOAD


def test_any_jose_library_can_read_it(signer: Signer) -> None:
    text = signer.sign(PAYLOAD)
    (listed,) = [key for key in signer.jwks()["keys"] if key["kid"] == _kid(text)]
    assert (listed["alg"], listed["use"], listed["kty"]) == ("EdDSA", "sig", "OKP")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = joserfc_jws.deserialize_compact(text, OKPKey.import_key(listed), ["EdDSA"])
    assert json.loads(read.payload) == PAYLOAD
    assert set(listed) == {"kty", "crv", "x", "kid", "alg", "use"}


def test_files_are_their_owners_alone(signer: Signer, folder: Path) -> None:
    signer.sign(PAYLOAD)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (path,) = _private(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _first_signature(url: str, folder: Path) -> str:
    with open_pool(url, 1) as pool:
        return Signer(pool, folder).sign(PAYLOAD)


def test_processes_that_start_at_once_agree_on_one_key(scratch: Scratch, folder: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as processes:
        texts = processes.starmap(_first_signature, [(scratch.app_url, folder)] * 6)
    assert len({_kid(text) for text in texts}) == 1
    assert len(_private(folder)) == 1


def test_threads_agree_too(signer: Signer) -> None:
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda _: signer.sign(PAYLOAD), range(32)))
    assert len({_kid(text) for text in texts}) == 1


def test_nodes_with_folders_of_their_own_list_each_others_keys(pool: Pool, tmp_path: Path) -> None:
    one, other = Signer(pool, tmp_path / "one"), Signer(pool, tmp_path / "other")
    text = one.sign(PAYLOAD)
    assert verify(text, other.jwks()) == PAYLOAD
    assert _kid(other.sign(PAYLOAD)) != _kid(text)


def test_rotating(pool: Pool, signer: Signer, folder: Path) -> None:
    before = signer.sign(PAYLOAD)
    fresh = rotate(pool, folder)
    after = signer.sign(PAYLOAD)
    assert _kid(after) == fresh != _kid(before)
    for text in (before, after):
        assert verify(text, signer.jwks()) == PAYLOAD
    listed = {key.kid: key.retired_at for key in signer.listed()}
    assert listed[fresh] is None
    assert listed[_kid(before)] is not None
    # What signs no more cannot be stolen any more.
    (path,) = _private(folder)
    assert fresh in path.name
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.glob("*.json")} == {0o600}


def test_rotating_before_the_first_signature(pool: Pool, signer: Signer, folder: Path) -> None:
    fresh = rotate(pool, folder)
    assert _kid(signer.sign(PAYLOAD)) == fresh


def test_a_new_database_learns_the_old_keys(
    pool: Pool, scratch: Scratch, signer: Signer, folder: Path
) -> None:
    old = signer.sign(PAYLOAD)
    rotate(pool, folder)
    scratch.execute("DELETE FROM signing_keys")
    assert verify(old, Signer(pool, folder).jwks()) == PAYLOAD


def test_a_change_that_cannot_be_read_does_not_stop_signing(signer: Signer, folder: Path) -> None:
    kid = _kid(signer.sign(PAYLOAD))
    (folder / "999999-broken.json").write_text("{")
    assert _kid(signer.sign(PAYLOAD)) == kid


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"kty":"OKP"}', '{"kty":"oct","k":"AAAA"}', '{"kty":"RSA"}',
             '{"kty":"OKP","crv":"X25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'],
)  # fmt: skip
def test_a_file_that_is_no_key_is_named(signer: Signer, folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "1-key.json").write_text(text)
    with pytest.raises(SettingsError, match=r"1-key\.json"):
        signer.prepare()


def test_a_folder_that_cannot_be_used_is_named(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="file"):
        Signer(pool, tmp_path / "file" / "keys").prepare()


def test_a_key_that_is_not_listed(signer: Signer, pool: Pool, tmp_path: Path) -> None:
    text = signer.sign(PAYLOAD)
    with pytest.raises(UnknownKey):
        verify(text, {"keys": []})
    with pytest.raises(ValueError, match="JWKS"):
        verify(text, {})


ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_every_changed_character_is_found(signer: Signer) -> None:
    text = signer.sign(PAYLOAD)
    jwks = signer.jwks()
    for place, letter in enumerate(text):
        # The neighbour in the alphabet: a last letter whose spare bits alone differ is found too.
        other = ALPHABET[ALPHABET.index(letter) ^ 1] if letter != "." else "A"
        for changed in (text[:place] + other + text[place + 1 :], text[:place] + text[place + 1 :]):
            with pytest.raises(BadSignature):
                verify(changed, jwks)


def _token(header: Any, payload: Any, signature: bytes = bytes(64)) -> str:
    parts = [json.dumps(part).encode() for part in (header, payload)]
    encoded = [base64.urlsafe_b64encode(part).rstrip(b"=") for part in (*parts, signature)]
    return b".".join(encoded).decode()


def test_what_is_no_signature(signer: Signer) -> None:
    text = signer.sign(PAYLOAD)
    jwks = signer.jwks()
    head, _, rest = text.partition(".")
    payload, _, signature = rest.partition(".")
    x = jwks["keys"][0]["x"]
    jwk = {"crv": "Ed25519", "kty": "OKP", "x": x}
    for other in (
        "", ".", "..", "a.b", text + ".", text + "\n", " " + text, text + "=", "é" + text,
        "A" * 10_000, f"{head}.{payload}.", f".{payload}.{signature}", f"{head}..{signature}",
        _token({"alg": "none", "jwk": jwk, "kid": "x"}, PAYLOAD, b""),
        _token({"alg": "EdDSA", "jwk": jwk, "kid": "x"}, PAYLOAD),
        _token({"alg": "EdDSA", "kid": _kid(text)}, PAYLOAD),
        _token({"alg": "EdDSA", "jwk": {"kty": "oct", "k": "AA"}, "kid": "x"}, PAYLOAD),
        _token([], PAYLOAD), _token("x", 1), "W1tb" * 500 + ".e30.AA",
    ):  # fmt: skip
        with pytest.raises(BadSignature):
            verify(other, jwks)
