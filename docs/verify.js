// Checks exported records of games, as record-format.md defines them: their form, signature, chain,
// commitment and every shuffle. It was written from that page and its vectors alone, so it is a
// second opinion; it does not know the games' rules. Standard library only.
//
//   node verify.js FILE... [--keys jwks.json]
//
// prints one line of JSON for each file, {file, ok, checks: [{check, ok, version, detail}]}; a
// check has no `ok` where it could not be made, and `sandbox` is true for the record of a game that
// was none but one for tests, which is also said on the standard error. Exits with 0 if nothing is wrong, 1 if something is,
// 2 if a file cannot be opened. Needs WebCrypto with Ed25519: Node 20 or later, or a browser on a
// secure page, where it is loaded as a script or a module and sets `gameRecord`:
//
//   const { ok, checks } = await gameRecord.verify(bytes, { jwks })
//
// From Node: require('./verify.js').verify, or import { verify } from './verify.js'.
'use strict';

(function () {
  const MAX_LINE = 1 << 20; // bytes, without the line feed
  const MAX_DEPTH = 16;
  const MAX_JWS = 8192; // characters
  const ENDS = new Set(['game.won', 'game.drawn', 'game.abandoned', 'game.cancelled']);
  const HIDES = {
    'round.dealt': ['salt', 'undealt', 'hands'],
    'cards.drawn': ['salt', 'cards'],
    'pile.reshuffled': ['salt', 'draw_pile'],
  };
  const EVENT = ['at', 'by', 'data', 'game_id', 'hash', 'prev_hash', 'type', 'version'];
  const HEAD = ['at', 'game_id', 'hash', 'jws', 'type', 'version'];
  const SANDBOX_HEAD = ['at', 'game_id', 'hash', 'jws', 'sandbox', 'type', 'version'];

  // ---- bytes ----------------------------------------------------------------------------------

  const utf8 = new TextEncoder();
  const bytesOf = (text) => utf8.encode(text);
  function textOf(bytes) { // throws on what is not UTF-8; keeps a byte order mark
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  }
  const hexOf = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  const isHex = (value, digits) =>
    typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);
  function fromHex(hex) {
    const out = new Uint8Array(hex.length / 2);
    for (let i = 0; i < out.length; i++) out[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
    return out;
  }
  function join(...parts) {
    const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { out.set(part, at); at += part.length; }
    return out;
  }

  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  function toBase64url(bytes) {
    let out = '';
    for (let i = 0; i < bytes.length; i += 3) {
      const n = (bytes[i] << 16) | ((bytes[i + 1] || 0) << 8) | (bytes[i + 2] || 0);
      const digits = [18, 12, 6, 0].map((shift) => DIGITS[(n >> shift) & 63]).join('');
      out += digits.slice(0, Math.min(3, bytes.length - i) + 1);
    }
    return out;
  }
  function fromBase64url(text) { // undefined unless spelled the one way
    if (typeof text !== 'string' || !/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) {
      return undefined;
    }
    const out = new Uint8Array(Math.floor(text.length * 3 / 4));
    let bits = 0, held = 0, at = 0;
    for (const c of text) {
      bits = ((bits << 6) | DIGITS.indexOf(c)) & 0xffff;
      held += 6;
      if (held >= 8) { held -= 8; out[at++] = (bits >> held) & 255; }
    }
    return toBase64url(out) === text ? out : undefined;
  }

  const subtle = () => {
    const it = globalThis.crypto && globalThis.crypto.subtle;
    if (!it) throw new Error('WebCrypto is not here: crypto.subtle needs https or localhost');
    return it;
  };
  const sha256 = async (bytes) => new Uint8Array(await subtle().digest('SHA-256', bytes));
  async function hmac(secret, bytes) {
    const use = { name: 'HMAC', hash: 'SHA-256' };
    const key = await subtle().importKey('raw', secret, use, false, ['sign']);
    return new Uint8Array(await subtle().sign('HMAC', key, bytes));
  }

  // ---- canonical JSON -------------------------------------------------------------------------

  const ESCAPES = {
    '"': '\\"', '\\': '\\\\', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r',
  };
  const escaped = (c) => ESCAPES[c] || '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
  const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/;

  function canonical(value) {
    switch (typeof value) {
      case 'boolean': return value ? 'true' : 'false';
      case 'number':
        if (!Number.isSafeInteger(value)) throw new Error('no safe integer');
        return value === 0 ? '0' : String(value);
      case 'string':
        if (LONE.test(value)) throw new Error('a lone surrogate');
        return '"' + value.replace(/["\\\u0000-\u001f]/g, escaped) + '"';
    }
    if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']';
    if (value === null || typeof value !== 'object') throw new Error('no value of a record');
    return '{' + Object.keys(value).sort().map((name) => {
      if (!/^[\0-\x7f]*$/.test(name)) throw new Error('a name that is not ASCII');
      return canonical(name) + ':' + canonical(value[name]);
    }).join(',') + '}';
  }

  // Reads canonical JSON and nothing else: what it takes is byte for byte canonical(its value).
  // Objects have no prototype, so that no name is special.
  function parseCanonical(text) {
    let at = 0;
    const fail = (what) => { throw new Error(what + ' at character ' + (at + 1)); };

    function string() {
      at++; // the quote
      let out = '';
      for (;;) {
        const from = at;
        while (at < text.length && text[at] !== '"' && text[at] !== '\\' && text[at] >= ' ') at++;
        out += text.slice(from, at);
        if (at >= text.length) fail('a string without an end');
        if (text[at] === '"') break;
        if (text[at] !== '\\') fail('a bare control character');
        const length = text[at + 1] === 'u' ? 6 : 2;
        const spelled = text.slice(at, at + length);
        let c;
        if (length === 6) {
          if (!/^\\u00[01][0-9a-f]$/.test(spelled)) fail('an escape that is not canonical');
          c = String.fromCharCode(parseInt(spelled.slice(2), 16));
        } else {
          c = Object.keys(ESCAPES).find((one) => ESCAPES[one] === spelled);
        }
        if (c === undefined || escaped(c) !== spelled) fail('an escape that is not canonical');
        out += c;
        at += length;
      }
      at++;
      if (LONE.test(out)) fail('a lone surrogate');
      return out;
    }

    function value(depth) {
      const c = text[at];
      if (c === '"') return string();
      if (c === '{' || c === '[') {
        if (depth === MAX_DEPTH) fail('nested deeper than ' + MAX_DEPTH + ' levels');
        return c === '{' ? object(depth + 1) : array(depth + 1);
      }
      for (const [word, meant] of [['true', true], ['false', false]]) {
        if (text.startsWith(word, at)) { at += word.length; return meant; }
      }
      const digits = /-?[0-9]+/y;
      digits.lastIndex = at;
      const found = digits.exec(text);
      if (!found) fail('no canonical JSON');
      const spelled = found[0], number = Number(spelled);
      if (!Number.isSafeInteger(number)) fail('an integer beyond 2^53 - 1');
      if (Object.is(number, -0) || String(number) !== spelled) fail('a number not canonical');
      at += spelled.length;
      return number;
    }

    function array(depth) {
      const out = [];
      at++;
      if (text[at] === ']') { at++; return out; }
      for (;;) {
        out.push(value(depth));
        const c = text[at];
        if (c !== ',' && c !== ']') fail('no canonical JSON');
        at++;
        if (c === ']') return out;
      }
    }

    function object(depth) {
      const out = Object.create(null);
      let before;
      at++;
      if (text[at] === '}') { at++; return out; }
      for (;;) {
        if (text[at] !== '"') fail('no canonical JSON');
        const name = string();
        if (!/^[\0-\x7f]*$/.test(name)) fail('a name that is not ASCII');
        if (before === name) fail('a name twice');
        if (before !== undefined && !(before < name)) fail('names out of order');
        before = name;
        if (text[at] !== ':') fail('no canonical JSON');
        at++;
        out[name] = value(depth);
        const c = text[at];
        if (c !== ',' && c !== '}') fail('no canonical JSON');
        at++;
        if (c === '}') return out;
      }
    }

    const out = value(0);
    if (at !== text.length) fail('more after the value');
    return out;
  }

  // ---- the form of a line ---------------------------------------------------------------------

  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const isSeat = (value) => Number.isSafeInteger(value) && value >= 0;
  const own = (object, name) => Object.prototype.hasOwnProperty.call(object, name);
  const has = (object, name) => isObject(object) && own(object, name);
  const isSandbox = (first) => has(first.data, 'sandbox');
  const dealOf = (first) => { // undefined for a real game
    const mark = isSandbox(first) ? first.data.sandbox : undefined;
    return has(mark, 'deal') && typeof mark.deal === 'string' ? mark.deal : undefined;
  };
  // Whether what is signed says of the game that it is a sandbox game if, and only if, it is one.
  const isMarked = (said, first) =>
    isSandbox(first) ? has(said, 'sandbox') && said.sandbox === true : !has(said, 'sandbox');
  const MISMARKED = 'what is signed and the record differ on whether this is a sandbox game';
  const same = (a, b) => a !== undefined && b !== undefined && canonical(a) === canonical(b);
  function exactly(object, names) {
    return isObject(object) && Object.keys(object).sort().join() === names.join();
  }

  function isTime(value) {
    const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{6}Z$/;
    const m = typeof value === 'string' && form.exec(value);
    if (!m) return false;
    const [year, month, day, hour, minute, second] = m.slice(1).map(Number);
    const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
      hour <= 23 && minute <= 59 && second <= 59;
  }

  function common(line) {
    if (typeof line.game_id !== 'string') return 'game_id';
    if (!Number.isSafeInteger(line.version)) return 'version';
    if (!isTime(line.at)) return 'at';
    if (!isHex(line.hash, 64)) return 'hash';
    return undefined;
  }
  function wrongInEvent(line) { // what is wrong in its form, or undefined
    if (!exactly(line, EVENT)) return 'not the members of an event';
    if (typeof line.type !== 'string') return 'type';
    if (!isHex(line.prev_hash, 64)) return 'prev_hash';
    if (!isObject(line.data)) return 'data';
    const by = line.by;
    if (!isObject(by) || !['player', 'clock', 'bot'].includes(by.kind)) return 'by';
    if (Object.keys(by).some((name) => !['kind', 'seat', 'player_id'].includes(name))) return 'by';
    if (has(by, 'seat') && !isSeat(by.seat)) return 'by';
    if (has(by, 'player_id') && typeof by.player_id !== 'string') return 'by';
    return common(line);
  }
  function wrongInHead(line) {
    const names = has(line, 'sandbox') ? SANDBOX_HEAD : HEAD;
    if (!exactly(line, names)) return 'not the members of a signed head';
    if (has(line, 'sandbox') && typeof line.sandbox !== 'boolean') return 'sandbox';
    if (typeof line.jws !== 'string') return 'jws';
    return common(line);
  }

  // The lines of a file: {events, head} or {wrong: the number of the line, detail}.
  function read(bytes) {
    const events = [];
    let head, from = 0, number = 0;
    while (from < bytes.length) {
      number++;
      const wrong = (detail) => ({ wrong: number, detail: 'line ' + number + ': ' + detail });
      if (head) {
        const detail = 'line ' + (number - 1) + ': a signed head that is not the last line';
        return { wrong: number - 1, detail };
      }
      const to = bytes.indexOf(10, from);
      if ((to < 0 ? bytes.length : to) - from > MAX_LINE) return wrong('longer than 1 MiB');
      if (to < 0) return wrong('no line feed at its end');
      let text, line;
      try { text = textOf(bytes.subarray(from, to)); } catch (e) { return wrong('not UTF-8'); }
      try { line = parseCanonical(text); } catch (e) { return wrong(e.message); }
      if (!isObject(line)) return wrong('not an object');
      const isHead = line.type === 'export.signed';
      const bad = isHead ? wrongInHead(line) : wrongInEvent(line);
      if (bad) return wrong(bad);
      if (isHead) head = line; else events.push(line);
      from = to + 1;
    }
    if (!events.length) return { wrong: 1, detail: 'no events' };
    return { events, head };
  }

  // ---- the chain ------------------------------------------------------------------------------

  function bodyOf(e) {
    const { at, by, data, game_id, type, version } = e;
    return canonical({ at, by, data, game_id, type, version });
  }
  const hashOf = async (e) => hexOf(await sha256(join(fromHex(e.prev_hash), bytesOf(bodyOf(e)))));

  function isHidden(e) {
    const names = own(HIDES, e.type) ? HIDES[e.type] : [];
    if (names.some((name) => !has(e.data, name))) return true;
    return e.type === 'round.dealt' && Array.isArray(e.data.active) &&
      e.data.active.some((seat) => !has(e.data.hands, String(seat)));
  }

  async function checkChain(events) {
    const ended = ENDS.has(events[events.length - 1].type);
    let hash = '0'.repeat(64), at = '', hidden = 0;
    for (let i = 0; i < events.length; i++) {
      const e = events[i];
      const wrong = (detail) => ({ ok: false, version: i + 1, detail });
      if (e.version !== i + 1) return wrong('the version is ' + e.version);
      if (e.game_id !== events[0].game_id) return wrong('another game_id');
      if (e.prev_hash !== hash) return wrong('prev_hash is not the hash of the event before');
      if (e.at < at) return wrong('earlier than the event before');
      if (!ended && isHidden(e)) hidden++;
      else if (await hashOf(e) !== e.hash) return wrong('the hash is not that of the event');
      hash = e.hash;
      at = e.at;
    }
    if (!hidden) return { ok: true };
    return { detail: 'the hashes of ' + hidden + (hidden === 1 ? ' event' : ' events') +
      ' with hidden parts cannot be computed' };
  }

  // ---- signatures -----------------------------------------------------------------------------

  const thumbprint = async (x) =>
    toBase64url(await sha256(bytesOf(canonical({ crv: 'Ed25519', kty: 'OKP', x }))));

  async function trusted(jwks) { // the thumbprints of a JWK set's Ed25519 keys
    if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new Error('not a JWK set');
    const out = new Set();
    for (const key of jwks.keys) {
      if (!isObject(key) || key.kty !== 'OKP' || key.crv !== 'Ed25519') continue;
      const x = fromBase64url(key.x);
      if (x && x.length === 32) out.add(await thumbprint(key.x));
    }
    return out;
  }

  // {ok, payload, kid, detail}; ok is absent if Ed25519 is not here.
  async function verifyJws(jws) {
    const wrong = (detail) => ({ ok: false, detail });
    if (typeof jws === 'string' && jws.length > MAX_JWS) return wrong('too long');
    const parts = typeof jws === 'string' ? jws.split('.') : [];
    if (parts.length !== 3) return wrong('not three parts');
    const [headerBytes, payloadBytes, signature] = parts.map(fromBase64url);
    if (!headerBytes || !payloadBytes || !signature) {
      return wrong('not base64url, spelled the one way');
    }
    let header, payload;
    try {
      header = parseCanonical(textOf(headerBytes));
      payload = parseCanonical(textOf(payloadBytes));
    } catch (e) { return wrong('a part is not canonical JSON: ' + e.message); }
    if (!exactly(header, ['alg', 'jwk', 'kid']) || header.alg !== 'EdDSA' ||
      !exactly(header.jwk, ['crv', 'kty', 'x']) ||
      header.jwk.crv !== 'Ed25519' || header.jwk.kty !== 'OKP') {
      return wrong('not the header of a signature');
    }
    const x = fromBase64url(header.jwk.x);
    if (!x || x.length !== 32) return wrong('x is not a key');
    const kid = await thumbprint(header.jwk.x);
    if (header.kid !== kid) return wrong('kid is not the thumbprint of the key');
    if (signature.length !== 64) return wrong('a signature has 64 bytes');
    let good;
    try {
      const key = await subtle().importKey('raw', x, { name: 'Ed25519' }, false, ['verify']);
      const text = bytesOf(parts[0] + '.' + parts[1]);
      good = await subtle().verify({ name: 'Ed25519' }, key, signature, text);
    } catch (e) {
      if (e.name === 'NotSupportedError') return { detail: 'Ed25519 is not known here' };
      good = false;
    }
    return good ? { ok: true, payload, kid } : wrong('the signature is not that of the text');
  }

  async function whose(kid, jwks) {
    const intact = 'the signature is intact; its key ' + kid;
    if (!jwks) return { detail: intact + ' is not known: no list of keys was given' };
    if ((await trusted(jwks)).has(kid)) return { ok: true, detail: 'by the trusted key ' + kid };
    return { ok: false, detail: intact + ' is not among the trusted ones' };
  }

  async function checkSignature({ events, head }, jwks) {
    if (!head) return { ok: jwks ? false : undefined, detail: 'the record has no signed head' };
    const signed = await verifyJws(head.jws);
    if (signed.ok !== true) return { ok: signed.ok, detail: signed.detail };
    const wrong = (detail, version) => ({ ok: false, version, detail });
    const { at, game_id, hash, version } = head;
    const mark = has(head, 'sandbox') ? { sandbox: head.sandbox } : {};
    if (!same(signed.payload, { at, game_id, hash, version, ...mark })) {
      return wrong('the head is not what was signed');
    }
    const ends = events.length, last = events[ends - 1];
    if (game_id !== last.game_id) return wrong('the head is that of another game');
    if (!isMarked(head, events[0])) return wrong(MISMARKED);
    const signedEnd = ', the signed record ends at ' + version;
    if (version > ends) return wrong('the record was cut' + signedEnd, ends + 1);
    if (version < ends) return wrong('something was added' + signedEnd, version + 1);
    if (hash !== last.hash || at !== last.at) {
      return wrong('the record was changed: it ends otherwise than the signed one', version);
    }
    return whose(signed.kid, jwks);
  }

  // A receipt against the bytes of a record: {ok, detail}. Whether the record is right is verify's.
  async function verifyReceipt(jws, { bytes, jwks } = {}) {
    const signed = await verifyJws(jws);
    if (signed.ok !== true) return signed;
    const p = signed.payload;
    const mark = has(p, 'sandbox') ? ['sandbox'] : [];
    if (!exactly(p, ['at', 'game_id', 'hash', 'player_id', ...mark, 'version']) ||
      (has(p, 'sandbox') && p.sandbox !== true) || typeof p.player_id !== 'string' || common(p)) {
      return { ok: false, detail: 'not the payload of a receipt' };
    }
    const key = await whose(signed.kid, jwks);
    if (key.ok === false || !bytes) return { ...key, payload: p };
    const record = read(bytes);
    if (!record.events) return { ok: false, detail: 'the record cannot be read: ' + record.detail };
    const e = record.events.find((it) => it.version === p.version && it.game_id === p.game_id);
    if (!e) return { ok: false, detail: 'the record has no such event' };
    if (!isMarked(p, record.events[0])) return { ok: false, detail: MISMARKED };
    if (e.hash !== p.hash || e.at !== p.at || e.by.player_id !== p.player_id) {
      return { ok: false, detail: 'the record was changed since the receipt' };
    }
    return { ...key, payload: p };
  }

  // ---- the secret and what comes of it --------------------------------------------------------

  async function checkCommitment(events) {
    const first = events[0], last = events[events.length - 1];
    const committed = first.data.commitment;
    if (!isHex(committed, 64)) return { ok: false, version: 1, detail: 'no commitment' };
    if (!ENDS.has(last.type)) return { detail: 'the game has not ended' };
    if (last.type === 'game.cancelled' && !isHex(last.data.secret, 64)) {
      return { detail: 'the game was cancelled: nothing was shuffled' };
    }
    const wrong = (detail) => ({ ok: false, version: events.length, detail });
    if (!isHex(last.data.secret, 64)) return wrong('no secret');
    const secret = fromHex(last.data.secret);
    const deal = dealOf(first);
    if (deal !== undefined) {
      const named = hexOf(await sha256(bytesOf('abbot sandbox deal ' + deal)));
      if (named !== last.data.secret) return wrong("the secret is not that of the deal's name");
    }
    const commitment = hexOf(await sha256(join(secret, bytesOf(first.game_id))));
    if (commitment !== committed) return wrong('the secret is not the one committed to');
    return { ok: true };
  }

  const streamKey = (secret, of) => hmac(secret, bytesOf(canonical(of)));
  async function* wordsOf(key) {
    for (let i = 0; ; i++) {
      const counter = new Uint8Array(4);
      new DataView(counter.buffer).setUint32(0, i);
      const block = new DataView((await sha256(join(key, counter))).buffer);
      for (let at = 0; at < 32; at += 4) yield block.getUint32(at);
    }
  }
  async function below(words, k) {
    const limit = 2 ** 32 - (2 ** 32 % k);
    for (;;) {
      const word = (await words.next()).value;
      if (word < limit) return word % k;
    }
  }
  async function shuffled(words, list) {
    const out = list.slice();
    for (let i = out.length - 1; i >= 1; i--) {
      const j = await below(words, i + 1);
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }

  const SYMBOLS = ['apple', 'clover', 'rose', 'strawberry'];
  const BANNERS = ['crimson', 'azure', 'forest', 'gold', 'slate', 'coral'];
  const pairs = (kinds, ranks, card) =>
    kinds.flatMap((kind) => [...ranks].map((rank) => card(kind, rank)));
  const SETS = { // each: the cards in the unshuffled order, and how many each seat is dealt
    halleluja: { each: 5, cards: pairs(SYMBOLS, 'ABCDEFGH', (s, f) => f + '-' + s) },
    vallelujah: { each: 9, cards: pairs(BANNERS, '123456789', (b, p) => b + '-' + p) },
  };
  const ascend = (seats) => seats.every((seat, i) => i === 0 || seats[i - 1] < seat);
  const nextAfter = (seat, active) => { // active ascends
    const greater = active.find((one) => one > seat);
    return greater === undefined ? active[0] : greater;
  };
  const saltOf = async (secret, version) =>
    hexOf(await hmac(secret, bytesOf('salt:' + version))).slice(0, 32);

  async function checkShuffle(events, commitment) {
    if (commitment.ok !== true) return { detail: 'not without the secret that was committed to' };
    const ruleset = events[0].data.ruleset;
    if (typeof ruleset !== 'string' || !own(SETS, ruleset)) {
      return { detail: 'the ruleset is not known' };
    }
    const set = SETS[ruleset], halleluja = ruleset === 'halleluja';
    const deal = dealOf(events[0]);
    if (isSandbox(events[0]) && deal === undefined) {
      return { ok: false, version: 1, detail: 'a sandbox game without a deal' };
    }
    const of = deal === undefined ? { game_id: events[0].game_id } : { deal };
    const secret = fromHex(events[events.length - 1].data.secret);
    const seed = new Map();   // by seat
    const resigned = new Set();
    let seats, seeds;         // of game.started
    let round = 0, opener;    // the dealer or leader of the last round
    let draw, discards, hands, reshuffles;
    let picks = false;
    const words = async (purpose, ofRound, n) =>
      wordsOf(await streamKey(secret, { ...of, n, purpose, round: ofRound, seeds }));

    for (let i = 0; i < events.length; i++) {
      const { type, data, by } = events[i];
      const wrong = (detail) => ({ ok: false, version: i + 1, detail });
      if (by.kind === 'clock') picks = true;
      if (own(HIDES, type) && data.salt !== await saltOf(secret, i + 1)) return wrong('the salt');

      if (type === 'seat.taken' || type === 'seat.seeded') {
        if (typeof data.client_seed === 'string') seed.set(data.seat, data.client_seed);
        else if (type === 'seat.taken') seed.delete(data.seat);
      } else if (type === 'seat.left') {
        seed.delete(data.seat);
      } else if (type === 'game.started') {
        if (seats) return wrong('the game starts twice');
        seats = data.seats;
        if (!Array.isArray(seats) || !seats.length || !seats.every(isSeat) || !ascend(seats)) {
          return wrong('the seats');
        }
        seeds = seats.map((seat) => seed.has(seat) ? seed.get(seat) : '');
      } else if (type === 'seat.resigned') {
        resigned.add(data.seat);
      } else if (type === 'round.dealt') {
        if (!seats) return wrong('a deal before the start');
        round++;
        if (data.round !== round) return wrong('the round');
        const active = seats.filter((seat) => !resigned.has(seat));
        if (!active.length || !same(data.active, active)) return wrong('the active seats');
        if (round === 1) opener = seats[await below(await words('lot', 0, 0), seats.length)];
        else opener = nextAfter(opener, active);
        if (halleluja ? data.dealer !== opener : has(data, 'dealer')) return wrong('the dealer');
        const first = halleluja ? nextAfter(opener, active) : opener;
        if (data.first !== first) return wrong(halleluja ? 'the first seat' : 'the leader');
        const cards = await shuffled(await words('deal', round, 0), set.cards);
        let top = 0;
        const dealtOut = active.length * set.each;
        if (dealtOut + (halleluja ? 1 : 0) > cards.length) return wrong('more seats than cards');
        const dealt = {};
        for (const seat of active) dealt[seat] = [];
        for (let seat = first; top < dealtOut; seat = nextAfter(seat, active)) {
          dealt[seat].push(cards[top++]);
        }
        if (!same(data.hands, dealt)) return wrong('the hands');
        if (halleluja && data.turned_up !== cards[top++]) return wrong('the card turned up');
        if (!same(data.undealt, cards.slice(top))) return wrong('the cards that were not dealt');
        draw = cards.slice(top);
        discards = halleluja ? [data.turned_up] : [];
        hands = new Map(active.map((seat) => [seat, new Set(dealt[seat])]));
        reshuffles = 0;
      } else if (type === 'card.played' && halleluja && draw) {
        if (typeof data.card === 'string') discards.push(data.card);
        if (hands.has(data.seat)) hands.get(data.seat).delete(data.card);
      } else if (type === 'cards.drawn') {
        if (!halleluja || !draw) return wrong('no pile to draw from');
        if (!isSeat(data.count) || data.count > draw.length) return wrong('more than there was');
        const cards = draw.splice(0, data.count);
        if (!same(data.cards, cards)) return wrong('the cards drawn');
        for (const card of hands.has(data.seat) ? cards : []) hands.get(data.seat).add(card);
      } else if (type === 'pile.reshuffled') {
        if (!halleluja || !draw) return wrong('no pile to reshuffle');
        const before = events[i - 1];
        let list;
        if (before.type === 'seat.resigned') {
          const hand = hands.get(before.data.seat) || new Set();
          list = set.cards.filter((card) => hand.has(card));
          hands.delete(before.data.seat);
        } else {
          list = discards.slice(0, -1);
          discards = discards.slice(-1);
        }
        draw = draw.concat(await shuffled(await words('reshuffle', round, reshuffles++), list));
        if (!same(data.draw_pile, draw)) return wrong('the pile');
        if (data.count !== draw.length) return wrong('the count of the pile');
      }
    }
    return picks ? { ok: true, detail: 'the automatic picks were left out' } : { ok: true };
  }

  // ---- all of it ------------------------------------------------------------------------------

  // bytes: a Uint8Array or an ArrayBuffer with the file; jwks: a JWK set of trusted keys, parsed.
  async function verify(bytes, { jwks } = {}) {
    const record = read(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
    const checks = [];
    const add = (check, result) => {
      const one = { check };
      for (const name of ['ok', 'version', 'detail']) {
        if (result[name] !== undefined) one[name] = result[name];
      }
      checks.push(one);
    };
    if (!record.events) {
      add('file', { ok: false, version: record.wrong, detail: record.detail });
      for (const check of ['signature', 'chain', 'commitment', 'shuffle']) {
        add(check, { detail: 'the file cannot be read' });
      }
    } else {
      const { events, head } = record;
      const complete = head || ENDS.has(events[events.length - 1].type);
      const detail = 'the record is cut: neither a signed head nor the end of the game';
      add('file', complete ? { ok: true } : { ok: false, version: events.length + 1, detail });
      add('signature', await checkSignature(record, jwks));
      add('chain', await checkChain(events));
      const commitment = await checkCommitment(events);
      add('commitment', commitment);
      add('shuffle', await checkShuffle(events, commitment));
    }
    const sandbox = record.events && isSandbox(record.events[0]) ? { sandbox: true } : {};
    return { ok: checks.every((one) => one.ok !== false), ...sandbox, checks };
  }

  async function main(args) {
    const fs = await import('node:fs');
    const files = [];
    let keys, code = 0;
    const usage = 'usage: node verify.js FILE... [--keys jwks.json]';
    if (args.includes('--help') || args.includes('-h')) {
      console.log(usage);
      return 0;
    }
    for (let i = 0; i < args.length; i++) {
      if (args[i] === '--keys' && i + 1 < args.length && !keys) keys = args[++i];
      else if (args[i].startsWith('--')) { files.length = 0; break; }
      else files.push(args[i]);
    }
    if (!files.length) {
      console.error(usage);
      return 2;
    }
    let jwks;
    if (keys) {
      try {
        jwks = JSON.parse(fs.readFileSync(keys, 'utf8'));
        await trusted(jwks);
      } catch (e) {
        console.error(keys + ': ' + e.message);
        return 2;
      }
    }
    for (const file of files) {
      let bytes;
      try { bytes = fs.readFileSync(file); } catch (e) {
        console.error(file + ': ' + e.message);
        code = 2;
        continue;
      }
      const result = await verify(bytes, { jwks });
      console.log(JSON.stringify({ file, ...result }));
      if (result.sandbox) console.error(file + ': SANDBOX: no real game, but one for tests');
      if (!result.ok && code === 0) code = 1;
    }
    return code;
  }

  const api = {
    verify, verifyReceipt, verifyJws, canonical, parseCanonical, trusted,
    parts: { hashOf, bodyOf, streamKey, wordsOf, below, shuffled, saltOf, textOf, fromHex, hexOf },
  };
  const run = () => main(process.argv.slice(2)).then(
    (code) => { process.exitCode = code; },
    (e) => { console.error(e); process.exitCode = 2; });
  if (typeof module === 'object' && module && module.exports) {
    module.exports.verify = api.verify;
    module.exports.verifyReceipt = api.verifyReceipt;
    Object.assign(module.exports, api);
    if (typeof require === 'function' && require.main === module) run();
  } else {
    globalThis.gameRecord = api;
    const script = typeof process === 'object' && process.argv && process.argv[1];
    if (script && /(^|[\\/])verify\.js$/.test(script)) run();
  }
})();
