// What the npm package promises: `promises.js URL PROXY`, with a server and a bad connection to it.
import assert from "node:assert/strict";
import { Abbot, AbbotError, filled, isTooLate, type GameEvent } from "abbot-client";

const [url = "", proxy = ""] = process.argv.slice(2);
const nowhere = "00000000-0000-7000-8000-000000000000";
const host = await Abbot.register(url, "Host");
const guest = await Abbot.register(url, "Guest");

async function refusal(call: Promise<unknown>): Promise<AbbotError> {
  const error = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  assert(error instanceof AbbotError, String(error));
  return error;
}

async function all(events: AsyncIterable<GameEvent>): Promise<number[]> {
  const versions = [];
  for await (const { version } of events) versions.push(version);
  return versions;
}

const options = { rounds_to_win: 1 };
const { game_id } = await host.createGame({ ruleset: "halleluja", max_seats: 2, options });
await guest.takeSeat(game_id, { client_seed: "5eed" });
const started = await host.start(game_id);
assert.equal(started.status, "active");
const [mover, other] = started.turn?.seat === 0 ? [host, guest] : [guest, host];

// A refusal is an error with its code, in the language that is asked for.
const missing = await refusal(host.game(nowhere));
assert.deepEqual([missing.status, missing.code, isTooLate(missing)], [404, "not-found", false]);
const german = new Abbot(url, { token: host.token!, language: "de" });
assert.notEqual((await refusal(german.game(nowhere))).problem?.detail, missing.problem?.detail);
assert.equal((await refusal(new Abbot(url).createGame({ ruleset: "halleluja" }))).status, 401);

// What waits is told; a late move is told from a wrong one.
assert.deepEqual(
  (await mover.waitForTurn()).map((game) => game.game_id),
  [game_id],
);
for await (const { game, legalMoves } of mover.turns(game_id)) {
  const move = filled(legalMoves[0]!);
  assert(isTooLate(await refusal(other.move(game_id, move))));
  const wrong = await refusal(mover.move(game_id, { type: "keep" }));
  assert.deepEqual([wrong.code, isTooLate(wrong)], ["illegal-move", false]);
  const newer = other.game(game_id, game.version);
  const made = await mover.move(game_id, move);
  assert.equal((await newer).version, made.game.version);
  break;
}

// A wait can be called off.
const off = new AbortController();
const { version } = await guest.game(game_id);
const waiting = guest.game(game_id, version, off.signal);
off.abort();
await assert.rejects(waiting, { name: "AbortError" });

// A stream shows what the pages show, and ends with the game.
const pages = await all(guest.events(game_id));
assert.deepEqual(
  pages,
  pages.map((_, index) => index + 1),
);
const streamed: number[] = [];
for await (const event of guest.stream(game_id)) {
  streamed.push(event.version);
  if (event.version === pages.length) await host.resign(game_id);
}
assert.deepEqual(streamed, await all(guest.events(game_id)));
assert.deepEqual(await all(guest.stream(game_id, streamed.length)), []);
assert.equal((await refusal(all(guest.stream(nowhere)))).code, "not-found");
const again = await host.rematch(game_id);
assert.equal((await guest.rematch(game_id)).game_id, again.game_id);

// The first answer from the bad connection is lost. What has a key is sent again by itself and counts
// once; what shows a secret once has none, and is not.
const mine = async () => (await host.api.GET("/v1/games", { params: { query: { mine: true } } })).data;
const before = (await mine())!.items.length;
await new Abbot(proxy, { token: host.token! }).createGame({ ruleset: "vallelujah" });
assert.equal((await mine())!.items.length, before + 1);
console.log("keyed");
for await (const line of process.stdin) if (String(line).trim() === "again") break;
const tokens = async () => (await host.api.GET("/v1/me/tokens")).data!.items.length;
const had = await tokens();
const bad = new Abbot(proxy, { token: host.token! });
await assert.rejects(bad.api.POST("/v1/me/tokens", { body: { scopes: ["read"] } }), TypeError);
assert.equal(await tokens(), had + 1);

// In the sandbox the clock is moved, once for a key, and refusals come when they are asked for. Who did
// not ask for the sandbox is not in it.
const tester = await Abbot.register(url, "Tester", { sandbox: true, refuse: "unavailable", patience: 0 });
assert.equal((await refusal(tester.createGame({ ruleset: "halleluja" }))).code, "unavailable");
const turnedAway = new Abbot(url, { token: tester.token!, refuse: "unauthenticated" });
assert.equal((await refusal(all(turnedAway.stream(nowhere)))).code, "unauthenticated");
const calm = new Abbot(url, { token: tester.token! });
const trial = await calm.createGame({ ruleset: "halleluja", deal: "play-a-2", turn_seconds: 3600 });
await calm.takeSeat(trial.game_id, { bot: "greedy" });
assert.equal((await calm.start(trial.game_id)).sandbox, true);
for (const _ of [1, 2])
  assert.equal((await calm.advanceClock(trial.game_id, 65, "again")).clock?.ahead_ms, 65_000);
assert.equal((await calm.advanceClock(trial.game_id, 5)).clock?.ahead_ms, 70_000);
assert.equal((await refusal(host.advanceClock(again.game_id, 65))).code, "forbidden");
const real = await Abbot.register(url, "Real", { refuse: "unavailable", patience: 0 });
assert.equal((await refusal(real.createGame({ ruleset: "halleluja" }))).code, "forbidden");

// Patience ends.
await assert.rejects(new Abbot("http://127.0.0.1:9", { patience: 300 }).game(nowhere), TypeError);
console.log("done");
