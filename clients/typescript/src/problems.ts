import type { Problem } from "./types.js";

/** An answer of 400 or more. `code` is what to branch on; `problem` is all that was said, undefined
 * if it was none that the API makes, as a proxy's own page. */
export class AbbotError extends Error {
  readonly code: string;

  constructor(
    readonly status: number,
    readonly problem?: Problem,
  ) {
    super(`${status} ${problem?.code ?? ""}: ${problem?.detail ?? "no problem"}`);
    this.name = "AbbotError";
    this.code = problem?.code ?? "";
  }
}

const LATE = ["game-not-active", "not-your-turn", "stale-turn", "turn-expired"];

/** Whether a move came for a turn or a game that is over: nothing is wrong, look at the game again. */
export function isTooLate(error: unknown): error is AbbotError {
  return error instanceof AbbotError && LATE.includes(error.code);
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "status" in value;
}
