// Sends a request again where that is safe, until there is an answer or patience ends.

/** Statuses of answers that say: not now. */
export const AGAIN = [429, 502, 503, 504];
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;
/** Milliseconds for one try; a request may wait for 30 seconds itself. */
const ONE_TRY = 60_000;

export type Fetch = (request: Request) => Promise<Response>;

/** Milliseconds to wait before each next try, with some chance in them. */
export function* pauses(first: number, longest: number): Generator<number, never> {
  for (let pause = first; ; pause = Math.min(2 * pause, longest)) {
    yield pause * (0.5 + Math.random());
  }
}

/** The milliseconds in `Retry-After`, 0 if there are none. */
export function askedPause(answer: Response): number {
  const value = answer.headers.get("Retry-After") ?? "";
  return /^\d+$/.test(value) ? Number(value) * 1000 : 0;
}

export function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A `fetch` that tries for `patience` milliseconds. A request that is neither a read nor carries an
 * `Idempotency-Key` is sent again only if it was turned away as one too many (429). */
export function patient(patience: number, once: Fetch): Fetch {
  return async (request) => {
    const repeatable = request.method !== "POST" || request.headers.has("Idempotency-Key");
    const giveUp = Date.now() + patience;
    for (const pause of pauses(FIRST_PAUSE, LONGEST_PAUSE)) {
      let answer: Response | undefined;
      let failure: unknown;
      try {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ONE_TRY)]);
        const got = await once(new Request(request.clone(), { signal }));
        // Read here, as an answer that breaks off is none. Some statuses have no body.
        const body = [204, 205, 304].includes(got.status) ? null : await got.arrayBuffer();
        const { status, statusText, headers } = got;
        answer = new Response(body, { status, statusText, headers });
      } catch (error) {
        if (request.signal.aborted) throw error;
        failure = error;
      }
      const again = answer === undefined ? repeatable : mayCome(answer.status, repeatable);
      const wait = Math.max(pause, answer === undefined ? 0 : askedPause(answer));
      if (!again || Date.now() + wait > giveUp) {
        if (answer !== undefined) return answer;
        throw failure;
      }
      await sleep(wait, request.signal);
    }
    throw new Error("pauses never end");
  };
}

function mayCome(status: number, repeatable: boolean): boolean {
  return AGAIN.includes(status) && (repeatable || status === 429);
}
