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
from eventstore.verifying import check_export
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
            secret, game_id=of["game_id"], purpose=of["purpose"], round_number=of["round"],
            n=of["n"], seeds=of["seeds"],
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


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_whole_games(ruleset: str) -> None:
    page = _page("signature.json")
    receipts = [page["receipt"]["jws"]] if ruleset == "vallelujah" else []
    data = (making.FOLDER / f"{ruleset}.ndjson").read_bytes()
    report = check_export(data, jwks=page["jwks"], receipts=receipts)
    assert [check for check in report.checks if check.ok is not True] == []


_BY_PARTS = """
const { parts } = require(process.argv[1]);
const folder = process.argv[2];
const { readFileSync } = require("node:fs");
const load = (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf-8"));
const assert = require("node:assert/strict");
const bytes = (text) => new TextEncoder().encode(text);
(async () => {
  const json = load("canonical.json");
  for (const { value, canonical } of json.cases) {
    assert.equal(parts.canonical(value), canonical);
    parts.parse(bytes(canonical));
  }
  for (const { text, reason } of json.refused) {
    assert.throws(() => parts.parse(bytes(text)), undefined, reason);
  }
  const { secret, commitment, salts, streams, numbers, shuffles } = load("shuffle.json");
  const key = parts.unhex(secret);
  for (const { version, salt } of salts) assert.equal(await parts.saltOf(key, version), salt);
  for (const { of, key: own, words } of streams) {
    assert.equal(parts.hex(await parts.keyOf(key, of)), own);
    const stream = new parts.Stream(parts.unhex(own));
    for (const word of words) assert.equal(await stream.word(), word);
  }
  for (const { below, numbers: listed } of numbers.cases) {
    const stream = new parts.Stream(parts.unhex(numbers.key));
    for (const number of listed) assert.equal(await stream.below(below), number);
  }
  for (const { before, after } of shuffles.cases) {
    const stream = new parts.Stream(parts.unhex(shuffles.key));
    assert.deepEqual(await stream.shuffled(before), after);
  }
  const { jwks, head, receipt, refused } = load("signature.json");
  const kids = await parts.trustedKids(jwks);
  for (const { jws, payload } of [head, receipt]) {
    const opened = await parts.openJws(jws);
    assert.deepEqual(opened.payload, payload);
    assert.ok(kids.has(opened.kid));
  }
  for (const { jws, reason } of refused) {
    await assert.rejects(parts.openJws(jws), undefined, reason);
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
