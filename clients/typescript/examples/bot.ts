// A bot for a whole match. `bot.js GAME` sits down at that table; `bot.js halleluja` opens one, seats
// a computer player and starts. ABBOT_URL says where, ABBOT_TOKEN as whom (else a new player).
import { Abbot, filled, isTooLate } from "abbot-client";

const { ABBOT_URL: url = "", ABBOT_TOKEN: token } = process.env;
const abbot = token ? new Abbot(url, { token }) : await Abbot.register(url, "Bot");
let game_id = process.argv[2] ?? "halleluja";
if (game_id === "halleluja" || game_id === "vallelujah") {
  ({ game_id } = await abbot.createGame({ ruleset: game_id, options: { rounds_to_win: 1 } }));
  await abbot.takeSeat(game_id, { bot: "greedy" });
  await abbot.start(game_id);
} else {
  await abbot.takeSeat(game_id);
}

for await (const { legalMoves } of abbot.turns(game_id)) {
  const entry = legalMoves[Math.floor(Math.random() * legalMoves.length)]!;
  await abbot.move(game_id, filled(entry)).catch((error: unknown) => {
    if (!isTooLate(error)) throw error;
  });
}
console.log((await abbot.game(game_id)).status);
