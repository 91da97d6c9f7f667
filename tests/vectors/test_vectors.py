"""docs/vectors holds what the code does, and the second verifier reads it the same way."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from domain import randomness
from domain.canonical import canonical
from domain.events import Recorded
from domain.verification.chain import hash_of
from eventstore import jws
from eventstore.exports import BadExport, read
from eventstore.recorded import canonical as stored
from eventstore.verifying import RECEIPT, check_export
from tests.vectors import agreement, making


def _page(name: str) -> Any:
    return json.loads((making.FOLDER / name).read_bytes())


def test_they_are_fresh() -> None:
    for name, content in making.files().items():
        assert (making.FOLDER / name).read_bytes() == content, name
    assert {path.name for path in making.FOLDER.iterdir()} == set(making.files())


def test_canonical_json() -> None:
    page = _page("canonical.json")
    for case in page["cases"]:
        text = case["canonical"].encode()
        assert canonical(case["value"]) == stored(case["value"]) == text
    for case in page["refused"]:
        with pytest.raises(BadExport):
            read(case["text"].encode("utf-8", "surrogatepass") + b"\n")
    for case in page["refused_bytes"]:
        with pytest.raises(BadExport, match="UTF-8"):
            read(bytes.fromhex(case["hex"]) + b"\n")


def test_shuffles() -> None:
    page = _page("shuffle.json")
    secret = bytes.fromhex(page["secret"])
    game_id = page["commitment"]["game_id"]
    assert randomness.commitment(secret, game_id) == page["commitment"]["commitment"]
    for case in page["salts"]:
        assert randomness.salt(secret, case["version"]) == case["salt"]
    for case in page["streams"]:
        of = case["of"]
        chance = randomness.Chance(
            secret, game_id=of.get("game_id", ""), purpose=of["purpose"],
            round_number=of["round"], n=of["n"], seeds=of["seeds"], deal=of.get("deal"),
        )  # fmt: skip
        assert [chance.below(2**32) for _ in case["words"]] == case["words"]
    deal = page["streams"][1]["of"]

    def dealing() -> randomness.Chance:
        return randomness.Chance(
            secret, game_id=game_id, purpose="deal", round_number=1, n=0, seeds=deal["seeds"]
        )

    for case in page["numbers"]["cases"]:
        chance = dealing()
        assert [chance.below(case["below"]) for _ in case["numbers"]] == case["numbers"]
    for case in page["shuffles"]["cases"]:
        assert dealing().shuffled(case["before"]) == case["after"]


def test_the_chain() -> None:
    page = _page("chain.json")
    for each, body in zip(page["events"], page["bodies"], strict=True):
        event = Recorded(**each)
        assert hash_of(event) == event.hash
        rest = {k: v for k, v in each.items() if k not in ("hash", "prev_hash")}
        assert canonical(rest).decode() == body


def test_signatures() -> None:
    page = _page("signature.json")
    for name in ("head", "receipt"):
        assert jws.verify(page[name]["jws"], page["jwks"]) == page[name]["payload"]
    for case in page["refused"]:
        with pytest.raises(jws.BadSignature):
            jws.verify(case["jws"], page["jwks"])


@pytest.mark.parametrize("name", ["halleluja", "vallelujah", "halleluja-long", "sandbox"])
def test_whole_games(name: str) -> None:
    page = _page("signature.json")
    receipts = [page["receipt"]["jws"]] if name == "vallelujah" else []
    data = (making.FOLDER / f"{name}.ndjson").read_bytes()
    report = check_export(data, jwks=page["jwks"], receipts=receipts)
    assert [check for check in report.checks if check.ok is not True] == []
    assert report.sandbox == (name == "sandbox")


def test_receipts_of_a_sandbox_game() -> None:
    jwks, page = _page("signature.json")["jwks"], _page("sandbox-signature.json")
    data = (making.FOLDER / "sandbox.ndjson").read_bytes()
    receipt, *refused = (each["jws"] for each in (page["receipt"], *page["refused"]))
    assert jws.verify(receipt, jwks) == page["receipt"]["payload"]
    right, *wrong = (
        check.ok
        for check in check_export(data, jwks=jwks, receipts=[receipt, *refused]).checks
        if check.check == RECEIPT
    )
    assert (right, wrong) == (True, [False, False])
    head = json.loads(data.splitlines()[-1])
    assert jws.verify(head["jws"], jwks)["sandbox"] is head["sandbox"] is True


def test_a_real_games_receipt_is_no_sandbox_games() -> None:
    jwks, notary = _page("signature.json")["jwks"], making.notary()
    data = (making.FOLDER / "vallelujah.ndjson").read_bytes()
    said = _page("signature.json")["receipt"]["payload"]
    for marked in (True, False):
        receipt = notary.sign({**said, "sandbox": marked})
        report = check_export(data, jwks=jwks, receipts=[receipt])
        assert [check.check for check in report.checks if check.ok is False] == [RECEIPT]


_BY_PARTS = """
const verifier = require(process.argv[1]);
const { parts } = verifier;
const folder = process.argv[2];
const { readFileSync } = require("node:fs");
const load = (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf-8"));
const assert = require("node:assert/strict");
const plain = (value) => JSON.parse(JSON.stringify(value));
(async () => {
  const json = load("canonical.json");
  for (const { value, canonical } of json.cases) {
    assert.equal(verifier.canonical(value), canonical);
    assert.equal(verifier.canonical(verifier.parseCanonical(canonical)), canonical);
  }
  for (const { text, reason } of json.refused) {
    assert.throws(() => verifier.parseCanonical(text), undefined, reason);
  }
  for (const { hex, reason } of json.refused_bytes) {
    assert.throws(() => parts.textOf(parts.fromHex(hex)), undefined, reason);
  }
  const { events, bodies } = load("chain.json");
  for (const [i, event] of events.entries()) {
    assert.equal(parts.bodyOf(event), bodies[i]);
    assert.equal(await parts.hashOf(event), event.hash);
  }
  const { secret, commitment, salts, streams, numbers, shuffles } = load("shuffle.json");
  const key = parts.fromHex(secret);
  const wordsOf = (hex) => parts.wordsOf(parts.fromHex(hex));
  for (const { version, salt } of salts) assert.equal(await parts.saltOf(key, version), salt);
  for (const { of, key: own, words } of streams) {
    assert.equal(parts.hexOf(await parts.streamKey(key, of)), own);
    const stream = wordsOf(own);
    for (const word of words) assert.equal((await stream.next()).value, word);
  }
  for (const { below, numbers: listed } of numbers.cases) {
    const stream = wordsOf(numbers.key);
    for (const number of listed) assert.equal(await parts.below(stream, below), number);
  }
  for (const { before, after } of shuffles.cases) {
    assert.deepEqual(await parts.shuffled(wordsOf(shuffles.key), before), after);
  }
  const { jwks, head, receipt, refused } = load("signature.json");
  const kids = await verifier.trusted(jwks);
  for (const { jws, payload } of [head, receipt]) {
    const opened = await verifier.verifyJws(jws);
    assert.equal(opened.ok, true);
    assert.deepEqual(plain(opened.payload), payload);
    assert.ok(kids.has(opened.kid));
  }
  for (const { jws, reason } of refused) {
    assert.equal((await verifier.verifyJws(jws)).ok, false, reason);
  }
  const bytes = readFileSync(`${folder}/vallelujah.ndjson`);
  const belongs = await verifier.verifyReceipt(receipt.jws, { bytes, jwks });
  assert.equal(belongs.ok, true);
  const other = readFileSync(`${folder}/halleluja.ndjson`);
  assert.equal((await verifier.verifyReceipt(receipt.jws, { bytes: other, jwks })).ok, false);
  const tests = readFileSync(`${folder}/sandbox.ndjson`);
  const marked = load("sandbox-signature.json");
  const own = await verifier.verifyReceipt(marked.receipt.jws, { bytes: tests, jwks });
  assert.equal(own.ok, true);
  assert.equal(own.payload.sandbox, true);
  for (const { jws, reason } of marked.refused) {
    assert.equal((await verifier.verifyReceipt(jws, { bytes: tests, jwks })).ok, false, reason);
  }
})().catch((error) => { console.error(error); process.exit(1); });
"""


@pytest.mark.skipif(not agreement.able(), reason="needs Node with Ed25519")
def test_the_second_verifier_passes_the_vectors() -> None:
    assert agreement.NODE is not None
    done = subprocess.run(
        [agreement.NODE, "-e", _BY_PARTS, str(agreement.SCRIPT), str(making.FOLDER)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.skipif(not agreement.able(), reason="needs Node with Ed25519")
def test_the_second_verifier_tells_its_usage() -> None:
    assert agreement.NODE is not None
    for arguments, code in ((["--help"], 0), ([], 2), (["--nonsense"], 2)):
        done = subprocess.run(
            [agreement.NODE, str(agreement.SCRIPT), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert "usage: node verify.js" in (done.stdout if code == 0 else done.stderr)
