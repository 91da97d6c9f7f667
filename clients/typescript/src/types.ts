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
export type NewGame = Schemas["NewGame"];
export type NewSeat = Schemas["NewSeat"];
export type Problem = Schemas["Problem"];
