// Checks exported records of Abbot: form, signature, chain, commitment and every shuffle, by
// docs/record-format.md alone. It knows no rules, so it leaves out whether moves were legal.
//
//   node verify.js FILE… [--keys jwks.json]     a line of JSON for each file; exit code 1 if any
//                                               is wrong, 2 if one cannot be read
//   abbotVerify(bytes, jwks?)                   in a browser or after require(): a promise of
//                                               {ok, checks: [{check, ok?, detail, version?}]}
//
// Needs WebCrypto with Ed25519: Node 20 or later, and browsers of today on a secure page.
"use strict";

(() => {
  const subtle = globalThis.crypto.subtle;
  const encoder = new TextEncoder();
  const ENDS = ["game.won", "game.drawn", "game.abandoned", "game.cancelled"];
  const SALTED = ["round.dealt", "cards.drawn", "pile.reshuffled"];
  const EVENT = {
    at: "string", by: "object", data: "object", game_id: "string", hash: "string",
    prev_hash: "string", type: "string", version: "number",
  };
  const HEAD = {
    at: "string", game_id: "string", hash: "string", jws: "string", type: "string",
    version: "number",
  };
  const FIGURES = [..."ABCDEFGH"];
  const SYMBOLS = ["apple", "clover", "rose", "strawberry"];
  const BANNERS = ["crimson", "azure", "forest", "gold", "slate", "coral"];
  const POWERS = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const GAMES = {
    halleluja: { cards: SYMBOLS.flatMap((s) => FIGURES.map((f) => `${f}-${s}`)), each: 5 },
    vallelujah: { cards: BANNERS.flatMap((b) => POWERS.map((p) => `${b}-${p}`)), each: 9 },
  };
  const DEEPEST = 16;
  const LONGEST = 1 << 20;

  // A wrong event: the check that it fails, its version if it has one, and why.
  class Wrong extends Error {
    constructor(check, version, detail) {
      super(detail);
      this.check = check;
      this.version = version;
    }
  }

  // -- bytes

  const concat = (...parts) => {
    const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  };
  const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const sha256 = async (bytes) => new Uint8Array(await subtle.digest("SHA-256", bytes));
  const hmac = async (secret, bytes) => {
    const key = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
    ]);
    return new Uint8Array(await subtle.sign("HMAC", key, bytes));
  };
  const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

  const encode64 = (bytes) =>
    btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const decode64 = (text) => {
    if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) throw new Error("no base64url");
    const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    if (encode64(bytes) !== text) throw new Error("base64url in another spelling");
    return bytes;
  };

  // -- canonical JSON

  const canonical = (value) => {
    if (value === true || value === false) return String(value);
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new Error("a number that no record holds");
      return String(value);
    }
    if (typeof value === "string") {
      if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
        throw new Error("a lone surrogate");
      }
      return JSON.stringify(value);
    }
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value === null || typeof value !== "object") throw new Error("a value that no record holds");
    const members = Object.keys(value).sort().map((name) => {
      if (!/^[\x00-\x7f]*$/.test(name)) throw new Error("a name that is not ASCII");
      return `${JSON.stringify(name)}:${canonical(value[name])}`;
    });
    return `{${members.join(",")}}`;
  };
  const same = (one, other) => {
    try {
      return canonical(one) === canonical(other);
    } catch {
      return false;
    }
  };

  const depth = (text) => {
    let deepest = 0;
    let now = 0;
    for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|[[{]|[\]}]/gs)) {
      if (token === "[" || token === "{") deepest = Math.max(deepest, ++now);
      else if (token === "]" || token === "}") now -= 1;
    }
    return deepest;
  };

  const parse = (bytes) => {
    if (bytes.length > LONGEST) throw new Error("the line is too long");
    if (!bytes.length) throw new Error("the line is empty");
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (depth(text) > DEEPEST) throw new Error("the line is nested too deep");
    const value = JSON.parse(text);
    if (canonical(value) !== text) throw new Error("the line is not canonical JSON");
    return value;
  };

  const kind = (value) => (Array.isArray(value) ? "array" : typeof value);
  const requireMembers = (value, members) => {
    if (kind(value) !== "object") throw new Error("the line is no object");
    for (const [name, type] of Object.entries(members)) {
      if (!Object.hasOwn(value, name)) throw new Error(`the line lacks ${name}`);
      if (kind(value[name]) !== type) throw new Error(`${name} is of another type`);
    }
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(members, name)) throw new Error(`${name} does not belong there`);
    }
  };

  // -- the file

  const read = (bytes) => {
    const events = [];
    let head = null;
    let start = 0;
    for (let number = 1; start < bytes.length || number === 1; number++) {
      const end = bytes.indexOf(10, start);
      try {
        if (end < 0) throw new Error(bytes.length ? "no line feed ends it" : "the file is empty");
        const value = parse(bytes.subarray(start, end));
        if (head) {
          throw new Wrong("file", number - 1, `line ${number - 1}: the head is not the last line`);
        }
        if (value?.type === "export.signed") {
          requireMembers(value, HEAD);
          head = value;
        } else {
          requireMembers(value, EVENT);
          events.push(value);
        }
      } catch (error) {
        if (error instanceof Wrong) throw error;
        throw new Wrong("file", number, `line ${number}: ${error.message}`);
      }
      start = end + 1;
    }
    if (!events.length) throw new Wrong("file", 1, "the file has no events");
    return { events, head };
  };

  // -- signatures

  const thumbprint = async (jwk) => {
    const { crv, kty, x } = jwk;
    if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || decode64(x).length !== 32) {
      throw new Error("no Ed25519 key");
    }
    return encode64(await sha256(encoder.encode(canonical({ crv, kty, x }))));
  };

  const trustedKids = async (jwks) => {
    const kids = new Set();
    for (const key of jwks.keys) {
      if (key?.kty === "OKP" && key.crv === "Ed25519") kids.add(await thumbprint(key));
    }
    return kids;
  };

  // The payload of an intact JWS, and the id of its key.
  const openJws = async (jws) => {
    const parts = jws.split(".");
    if (parts.length !== 3) throw new Error("no compact JWS");
    const [header, payload, signature] = parts.map(decode64);
    const { alg, jwk, kid, ...more } = parse(header);
    if (alg !== "EdDSA" || Object.keys(more).length || kind(jwk) !== "object") {
      throw new Error("another header");
    }
    if (Object.keys(jwk).length !== 3 || (await thumbprint(jwk)) !== kid) {
      throw new Error("the key id is not that of the key");
    }
    const key = await subtle.importKey("raw", decode64(jwk.x), { name: "Ed25519" }, false, [
      "verify",
    ]);
    const signed = encoder.encode(`${parts[0]}.${parts[1]}`);
    if (signature.length !== 64 || !(await subtle.verify("Ed25519", key, signature, signed))) {
      throw new Error("the signature is not of this text");
    }
    return { payload: parse(payload), kid };
  };

  const checkSignature = async ({ events, head }, jwks) => {
    const last = events.at(-1);
    const wrong = (detail, version) => {
      throw new Wrong("signature", version, detail);
    };
    if (!head) {
      if (jwks) wrong("the record is not signed");
      return [null, "no signature"];
    }
    const { at, game_id, hash, version } = head;
    let opened;
    try {
      opened = await openJws(head.jws);
    } catch (error) {
      wrong(error.message);
    }
    if (!same(opened.payload, { at, game_id, hash, version })) wrong("it is not of this head");
    if (game_id !== last.game_id) wrong("it is of another game");
    if (version > last.version) wrong("the record was cut", last.version + 1);
    if (version < last.version) wrong("something was added", version + 1);
    if (hash !== last.hash || at !== last.at) wrong("the record was changed", last.version);
    if (!jwks) return [null, `intact, by the key ${opened.kid}, which is not known`];
    if (!(await trustedKids(jwks)).has(opened.kid)) wrong("its key is not trusted");
    return [true, `by the trusted key ${opened.kid}`];
  };

  // -- the chain

  const isTime = (text) => {
    if (!/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text)) return false;
    const seconds = `${text.slice(0, 19)}.000Z`;
    const date = new Date(seconds);
    return !Number.isNaN(date.getTime()) && date.toISOString() === seconds;
  };

  const hidesParts = ({ type, data }) => {
    const lacks = (name) => !Object.hasOwn(data, name);
    switch (type) {
      case "round.dealt":
        return (
          lacks("salt") || lacks("undealt") || lacks("hands") ||
          (Array.isArray(data.active) && data.active.some((s) => !Object.hasOwn(data.hands, s)))
        );
      case "cards.drawn":
        return lacks("salt") || lacks("cards");
      case "pile.reshuffled":
        return lacks("salt") || lacks("draw_pile");
      default:
        return false;
    }
  };

  const checkChain = async ({ events }) => {
    const over = ENDS.includes(events.at(-1).type);
    let hidden = 0;
    let before = { hash: "0".repeat(64), at: "" };
    for (const [index, event] of events.entries()) {
      const { prev_hash, hash, ...body } = event;
      const wrong = (detail) => {
        throw new Wrong("chain", index + 1, detail);
      };
      if (event.version !== index + 1) wrong(`version ${event.version} stands here`);
      if (event.game_id !== events[0].game_id) wrong("it is of another game");
      if (prev_hash !== before.hash) wrong("prev_hash is not the hash before");
      if (!isHash(hash)) wrong("hash is no hash");
      if (!isTime(event.at)) wrong("at is no time");
      if (event.at < before.at) wrong("it is earlier than the event before");
      if (!over && hidesParts(event)) {
        hidden += 1;
      } else {
        const own = await sha256(concat(unhex(prev_hash), encoder.encode(canonical(body))));
        if (hex(own) !== hash) wrong("hash is not that of the event");
      }
      before = event;
    }
    if (hidden) return [null, `${hidden} events are hidden in part`];
    return [true, `${events.length} events`];
  };

  // -- chance

  const secretOf = ({ events }) => {
    const last = events.at(-1);
    if (!ENDS.includes(last.type)) return null;
    return isHash(last.data.secret) ? unhex(last.data.secret) : null;
  };

  const isCommittedTo = async (secret, { game_id, data }) =>
    hex(await sha256(concat(secret, encoder.encode(game_id)))) === data.commitment;

  const checkCommitment = async (record) => {
    const { events } = record;
    const last = events.at(-1);
    const secret = secretOf(record);
    if (typeof events[0].data.commitment !== "string") {
      throw new Wrong("commitment", 1, "there is none");
    }
    if (!secret) {
      if (last.type === "game.cancelled" || !ENDS.includes(last.type)) {
        return [null, "no secret is published"];
      }
      throw new Wrong("commitment", last.version, "the end does not publish the secret");
    }
    if (!(await isCommittedTo(secret, events[0]))) {
      throw new Wrong("commitment", last.version, "the secret is not the one committed to");
    }
    return [true, "the secret is the one committed to"];
  };

  class Stream {
    constructor(key) {
      this.key = key;
      this.block = 0;
      this.words = [];
    }

    async word() {
      if (!this.words.length) {
        const counter = new Uint8Array(4);
        new DataView(counter.buffer).setUint32(0, this.block++);
        const block = new DataView((await sha256(concat(this.key, counter))).buffer);
        this.words = [0, 4, 8, 12, 16, 20, 24, 28].map((at) => block.getUint32(at));
      }
      return this.words.shift();
    }

    async below(k) {
      const limit = 2 ** 32 - (2 ** 32 % k);
      let word = await this.word();
      while (word >= limit) word = await this.word();
      return word % k;
    }

    async shuffled(items) {
      const list = [...items];
      for (let i = list.length - 1; i > 0; i--) {
        const j = await this.below(i + 1);
        [list[i], list[j]] = [list[j], list[i]];
      }
      return list;
    }
  }

  const keyOf = (secret, use) => hmac(secret, encoder.encode(canonical(use)));
  const saltOf = async (secret, version) =>
    hex(await hmac(secret, encoder.encode(`salt:${version}`))).slice(0, 32);
  const nextSeat = (active, seat) => active.find((other) => other > seat) ?? active[0];

  // Follows the cards of a game from event to event; each must be where the secret has put it.
  class Cards {
    constructor(events, secret) {
      this.secret = secret;
      this.gameId = events[0].game_id;
      this.game = GAMES[events[0].data.ruleset];
      this.dealer = events[0].data.ruleset === "halleluja";
      this.seedOf = new Map();
      this.round = 0;
      this.resigned = null;
      this.counts = { deals: 0, draws: 0, reshuffles: 0 };
    }

    async stream(purpose, round, n) {
      const use = { game_id: this.gameId, n, purpose, round, seeds: this.seeds };
      return new Stream(await keyOf(this.secret, use));
    }

    async follow(event) {
      const { type, data, version } = event;
      const must = (name, value) => {
        if (!same(data[name], value)) throw new Wrong("shuffle", version, `${name} of ${type}`);
      };
      const resigned = this.resigned;
      this.resigned = null;
      if (SALTED.includes(type) || Object.hasOwn(data, "salt")) {
        must("salt", await saltOf(this.secret, version));
      }
      switch (type) {
        case "seat.taken":
          this.seedOf.set(data.seat, data.client_seed ?? "");
          break;
        case "seat.seeded":
          this.seedOf.set(data.seat, data.client_seed);
          break;
        case "seat.left":
          this.seedOf.delete(data.seat);
          break;
        case "game.started":
          this.active = [...data.seats];
          this.seeds = data.seats.map((seat) => this.seedOf.get(seat));
          break;
        case "seat.resigned":
          this.active = this.active.filter((seat) => seat !== data.seat);
          this.resigned = data.seat;
          break;
        case "round.dealt":
          await this.deal(must);
          break;
        case "card.played":
          this.hands.get(data.seat)?.delete(data.card);
          this.laid?.push(data.card);
          break;
        case "cards.drawn":
          must("cards", this.pile.slice(0, data.count));
          for (const card of this.pile.splice(0, data.count)) {
            this.hands.get(data.seat).add(card);
          }
          this.counts.draws += 1;
          break;
        case "pile.reshuffled":
          await this.reshuffle(must, resigned);
          break;
      }
    }

    async deal(must) {
      this.round += 1;
      if (this.round === 1) {
        const lot = await (await this.stream("lot", 0, 0)).below(this.active.length);
        this.opener = this.active[lot];
      } else {
        this.opener = nextSeat(this.active, this.opener);
      }
      const first = this.dealer ? nextSeat(this.active, this.opener) : this.opener;
      must("round", this.round);
      if (this.dealer) must("dealer", this.opener);
      must("first", first);
      must("active", this.active);
      const deck = await (await this.stream("deal", this.round, 0)).shuffled(this.game.cards);
      const at = this.active.indexOf(first);
      const order = [...this.active.slice(at), ...this.active.slice(0, at)];
      const hands = Object.fromEntries(order.map((seat) => [seat, []]));
      let place = 0;
      while (place < this.game.each * order.length) {
        hands[order[place % order.length]].push(deck[place]);
        place += 1;
      }
      must("hands", hands);
      this.laid = [];
      if (this.dealer) {
        must("turned_up", deck[place]);
        this.laid.push(deck[place++]);
      }
      this.pile = deck.slice(place);
      must("undealt", this.pile);
      this.hands = new Map(order.map((seat) => [seat, new Set(hands[seat])]));
      this.reshuffles = 0;
      this.counts.deals += 1;
    }

    async reshuffle(must, resigned) {
      const stream = await this.stream("reshuffle", this.round, this.reshuffles++);
      let back;
      if (resigned === null) {
        back = this.laid.slice(0, -1);
        this.laid = this.laid.slice(-1);
      } else {
        const hand = this.hands.get(resigned);
        back = this.game.cards.filter((card) => hand.has(card));
        this.hands.set(resigned, new Set());
      }
      this.pile = [...this.pile, ...(await stream.shuffled(back))];
      must("draw_pile", this.pile);
      must("count", this.pile.length);
      this.counts.reshuffles += 1;
    }
  }

  const checkShuffle = async (record) => {
    const { events } = record;
    const secret = secretOf(record);
    if (!secret) return [null, "no secret is published"];
    if (!(await isCommittedTo(secret, events[0]))) return [null, "the secret is not the one committed to"];
    if (!Object.hasOwn(GAMES, events[0].data.ruleset)) return [null, "the game is not known here"];
    const cards = new Cards(events, secret);
    for (const event of events) {
      try {
        await cards.follow(event);
      } catch (error) {
        if (error instanceof Wrong) throw error;
        throw new Wrong("shuffle", event.version, `${event.type} cannot be followed`);
      }
    }
    const { deals, draws, reshuffles } = cards.counts;
    return [true, `the lot, ${deals} deals, ${draws} draws, ${reshuffles} reshuffles; no picks`];
  };

  // -- all of it

  const CHECKS = {
    signature: checkSignature,
    chain: checkChain,
    commitment: checkCommitment,
    shuffle: checkShuffle,
  };

  const answer = (check, ok, detail, version) => ({
    check,
    ...(ok === null ? {} : { ok }),
    detail,
    ...(version === undefined ? {} : { version }),
  });

  const abbotVerify = async (bytes, jwks) => {
    const checks = [];
    let record = null;
    try {
      record = read(bytes);
      const last = record.events.at(-1);
      if (!record.head && !ENDS.includes(last.type)) {
        checks.push(answer("file", false, "the record is cut", last.version + 1));
      } else {
        checks.push(answer("file", true, "canonical JSON"));
      }
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      checks.push(answer("file", false, error.message, error.version));
    }
    for (const [name, check] of Object.entries(CHECKS)) {
      if (!record) {
        checks.push(answer(name, null, "the file cannot be read"));
        continue;
      }
      try {
        const [ok, detail] = await check(record, jwks);
        checks.push(answer(name, ok, detail));
      } catch (error) {
        if (!(error instanceof Wrong)) throw error;
        checks.push(answer(name, false, error.message, error.version));
      }
    }
    return { ok: checks.every((check) => check.ok !== false), checks };
  };

  globalThis.abbotVerify = abbotVerify;
  const parts = { canonical, parse, openJws, trustedKids, sha256, keyOf, saltOf, Stream, hex, unhex };
  if (typeof module === "undefined") return;
  module.exports = Object.assign(abbotVerify, { abbotVerify, parts });
  if (require.main !== module) return;

  const { readFileSync } = require("node:fs");
  const main = async (args) => {
    let jwks;
    const files = [];
    while (args.length) {
      const arg = args.shift();
      if (arg === "--keys") jwks = JSON.parse(readFileSync(args.shift(), "utf-8"));
      else files.push(arg);
    }
    if (!files.length) throw new Error("usage: node verify.js FILE… [--keys jwks.json]");
    let code = 0;
    for (const file of files) {
      const report = await abbotVerify(new Uint8Array(readFileSync(file)), jwks);
      process.stdout.write(`${JSON.stringify({ file, ...report })}\n`);
      if (!report.ok) code = 1;
    }
    return code;
  };
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 2;
    },
  );
})();
