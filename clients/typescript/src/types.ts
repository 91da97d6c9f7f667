// The names of the document's models that are most in use; `Schemas` has all of them.
import type { components, paths } from "./generated/api.js";

export type Paths = paths;
export type Schemas = components["schemas"];
export type Game = Schemas["Game"];
export type GameEvent = Schemas["GameEvent"];
export type GameSummary = Schemas["GameSummary"];
export type LegalMove = Schemas["LegalMove"];
export type MadeMove = Schemas["MadeMove"];
export type Move = Schemas["Move"];
/** A table to open; what has a default may be left out. */
export type NewGame = Optional<Schemas["NewGame"], "turn_seconds" | "visibility">;
export type NewSeat = Schemas["NewSeat"];
export type Problem = Schemas["Problem"];

type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;
