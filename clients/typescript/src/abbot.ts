import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./generated/api.js";
import { KEYED } from "./generated/keyed.js";
import { AGAIN, askedPause, patient, pauses, sleep, type Fetch } from "./patience.js";
import { AbbotError, isProblem } from "./problems.js";
import { messages } from "./streams.js";
import type {
  Game,
  GameEvent,
  GameSummary,
  LegalMove,
  MadeMove,
  Move,
  NewGame,
  NewSeat,
  Schemas,
} from "./types.js";

export interface Settings {
  /** A player's token, or an app's key together with `player`. */
  token?: string;
  /** With an app's key: the id of the player to act for. */
  player?: string;
  /** In which language sentences come, as `de`; English by default. */
  language?: string;
  /** Milliseconds for which a call is tried again while no answer comes; a minute by default. */
  patience?: number;
  /** In the sandbox: how every call is refused. The first two are tried again as real ones are, so
   * with little patience. */
  refuse?: "unavailable" | "rate-limited" | "unauthenticated";
  /** What really sends; `fetch` by default. */
  fetch?: Fetch;
}

/** A moment at which the player may move: the game, and what may be played. Never empty. */
export interface Turn {
  game: Game;
  legalMoves: LegalMove[];
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Seconds that one request waits for something to happen. */
const WAIT = 30;
/** Milliseconds without a byte after which a stream is broken: a quiet one sends something every
 * 15 seconds. */
const SILENCE = 45_000;
const LONGEST_PAUSE = 60_000;

/** A new `Idempotency-Key`. */
export function newKey(): string {
  // crypto.randomUUID is missing in pages without TLS.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** The move of a legal move's entry, with the word that is due, and with `wish` and `take`, or the
 * first unit to take where one has to be named. */
export function filled(entry: LegalMove, chosen: Pick<Move, "wish" | "take"> = {}): Move {
  const move: Move = { ...entry.move };
  if (entry.call_due !== undefined) move.call = entry.call_due as NonNullable<Move["call"]>;
  if (entry.take_from?.[0] !== undefined) move.take = entry.take_from[0];
  return { ...move, ...chosen };
}

/** The API at `url` (without `/v1`), as the player that the token stands for.
 *
 * Calls reject with AbbotError for a refusal, and with what `fetch` rejected with once patience has
 * ended. `api` has every operation, with the same retries and keys. */
export class Abbot {
  readonly api: Client<paths>;
  readonly url: string;
  readonly token: string | undefined;
  private readonly headers: Record<string, string> = {};
  private readonly once: Fetch;

  constructor(url: string, settings: Settings = {}) {
    this.url = url.replace(/\/$/, "");
    this.token = settings.token;
    this.once = settings.fetch ?? ((request) => fetch(request));
    if (settings.token) this.headers.Authorization = `Bearer ${settings.token}`;
    if (settings.player) this.headers["Abbot-Player"] = settings.player;
    if (settings.language) this.headers["Accept-Language"] = settings.language;
    if (settings.refuse) this.headers["Abbot-Sandbox-Refuse"] = settings.refuse;
    this.api = createClient<paths>({
      baseUrl: this.url,
      headers: this.headers,
      fetch: patient(settings.patience ?? 60_000, this.once),
    });
    this.api.use({
      onRequest({ request, schemaPath }) {
        if (!request.headers.has("Idempotency-Key") && KEYED.has(`${request.method} ${schemaPath}`))
          request.headers.set("Idempotency-Key", newKey());
        return request;
      },
    });
  }

  /** A new player; keep its `token`, it is not shown again. With `sandbox` it is one for tests, for
   * ever: all its games are sandbox games. */
  static async register(
    url: string,
    name: string,
    { sandbox = false, ...settings }: Settings & { sandbox?: boolean } = {},
  ): Promise<Abbot> {
    // Nobody is not in the sandbox yet, and may not ask to be refused.
    const { refuse: _, ...others } = settings;
    const nobody = new Abbot(url, others);
    const { token } = result(await nobody.api.POST("/v1/players", { body: { name, sandbox } }));
    return new Abbot(url, { ...settings, token });
  }

  /** Open a table, with its host in seat 0. */
  async createGame(table: NewGame): Promise<Game> {
    return result(await this.api.POST("/v1/games", { body: table }));
  }

  /** Sit down, or as host seat a computer player. */
  async takeSeat(game_id: string, seat: NewSeat = {}): Promise<Game> {
    const params = { path: { game_id } };
    return result(await this.api.POST("/v1/games/{game_id}/seats", { params, body: seat }));
  }

  /** Start the match, as host. */
  async start(game_id: string): Promise<Game> {
    const params = { path: { game_id } };
    return result(await this.api.POST("/v1/games/{game_id}/start", { params, body: {} }));
  }

  /** Give the match up. */
  async resign(game_id: string): Promise<Game> {
    const params = { path: { game_id } };
    return result(await this.api.POST("/v1/games/{game_id}/resign", { params, body: {} }));
  }

  /** Say that one is there again. */
  async comeBack(game_id: string): Promise<Game> {
    const params = { path: { game_id } };
    return result(await this.api.POST("/v1/games/{game_id}/back", { params, body: {} }));
  }

  /** The next table of the same players, with a seat at it. */
  async rematch(game_id: string): Promise<Game> {
    const params = { path: { game_id } };
    return result(await this.api.POST("/v1/games/{game_id}/rematch", { params, body: {} }));
  }

  /** Move a sandbox game's clock forward, as host; what comes due on the way has happened. It counts
   * once; who keeps the `key` can send it again after a restart. */
  async advanceClock(game_id: string, seconds: number, key: string = newKey()): Promise<Game> {
    const params = { path: { game_id }, header: { "Idempotency-Key": key } };
    const body = { advance_seconds: seconds };
    return result(await this.api.POST("/v1/games/{game_id}/clock", { params, body }));
  }

  /** The game as the player may see it. With `newerThan`, a version: once there is one, however long
   * that takes; at once if the game is over. */
  async game(game_id: string, newerThan?: number, signal?: AbortSignal): Promise<Game> {
    const waiting =
      newerThan === undefined
        ? { params: { path: { game_id } } }
        : {
            params: {
              path: { game_id },
              query: { wait: WAIT },
              header: { "If-None-Match": `"${newerThan}"` },
            },
          };
    for (;;) {
      const options = { ...waiting, signal: signal ?? null };
      const answer = await this.api.GET("/v1/games/{game_id}", options);
      if (answer.response.status !== 304) return result(answer);
    }
  }

  /** The games in which it is the player's turn, once there is one. */
  async waitForTurn(signal?: AbortSignal): Promise<GameSummary[]> {
    for (;;) {
      const query = { turn: "me" as const, wait: WAIT };
      const options = { params: { query }, signal: signal ?? null };
      const { items } = result(await this.api.GET("/v1/games", options));
      if (items.length > 0) return items;
    }
  }

  /** Make a move. It counts once; who keeps the `key` can send it again after a restart. */
  async move(game_id: string, move: Move, key: string = newKey()): Promise<MadeMove> {
    const params = { path: { game_id }, header: { "Idempotency-Key": key } };
    const answer = await this.api.POST("/v1/games/{game_id}/moves", { params, body: move });
    return result(answer as Answer<MadeMove>);
  }

  /** Each time that the player may move, until the game is over. A player who was away is back with
   * that. */
  async *turns(game_id: string, signal?: AbortSignal): AsyncGenerator<Turn> {
    let game = await this.game(game_id);
    while (game.status === "lobby" || game.status === "active") {
      const { you, seats } = game;
      if (you && seats.find(({ seat }) => seat === you.seat)?.status === "away")
        await this.comeBack(game_id);
      if (you?.legal_moves?.length) {
        yield { game, legalMoves: you.legal_moves };
        game = await this.game(game_id);
      } else {
        game = await this.game(game_id, game.version, signal);
      }
    }
  }

  /** What has happened so far, after version `after`. */
  async *events(game_id: string, after = 0): AsyncGenerator<GameEvent> {
    for (;;) {
      const params = { path: { game_id }, query: { after, limit: 1000 } };
      const page = result(await this.api.GET("/v1/games/{game_id}/events", { params }));
      const items = (page as Schemas["EventList"]).items;
      yield* items;
      if ((page as Schemas["EventList"]).next_cursor === undefined) return;
      after = items.at(-1)?.version ?? after;
    }
  }

  /** The events after version `after`, then each as it happens, until the game is over.
   *
   * A broken connection is made again, for as long as it takes: each event comes once and none is
   * missing. Rejects with AbbotError once the player may not see it, or no longer. */
  async *stream(game_id: string, after = 0, signal?: AbortSignal): AsyncGenerator<GameEvent> {
    let again = pauses(1000, LONGEST_PAUSE);
    let asked = 0;
    for (;;) {
      const silence = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE);
      };
      try {
        alive();
        const answer = await this.once(
          new Request(`${this.url}/v1/games/${encodeURIComponent(game_id)}/stream?after=${after}`, {
            headers: { ...this.headers, Accept: "text/event-stream" },
            signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
          }),
        );
        if (answer.status === 204) return;
        if (AGAIN.includes(answer.status)) asked = askedPause(answer);
        else if (!answer.ok || !answer.body) throw await refused(answer);
        else {
          for await (const { event, data, retry } of messages(answer.body, alive)) {
            if (retry !== undefined) asked = retry;
            if (event === "end") return;
            if (event !== "message" || data === "") continue;
            const happened = JSON.parse(data) as GameEvent;
            if (happened.version > after + 1) break;
            if (happened.version <= after) continue;
            after = happened.version;
            again = pauses(1000, LONGEST_PAUSE);
            yield happened;
          }
        }
      } catch (error) {
        if (error instanceof AbbotError || signal?.aborted) throw error;
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
      await sleep(Math.max(again.next().value, asked), signal ?? null);
    }
  }
}

function result<T>({ data, error, response }: Answer<T>): T {
  if (data !== undefined && response.ok) return data;
  throw new AbbotError(response.status, isProblem(error) ? error : undefined);
}

async function refused(answer: Response): Promise<AbbotError> {
  const said: unknown = await answer.json().catch(() => undefined);
  return new AbbotError(answer.status, isProblem(said) ? said : undefined);
}
