export { Abbot, filled, newKey, type Settings, type Turn } from "./abbot.js";
export { AbbotError, isTooLate } from "./problems.js";
export type * from "./types.js";
