// A game on a phone: `phone.js GAME FILE`, with ABBOT_URL and ABBOT_TOKEN. It is offline at times, is
// ended without notice, and its user taps twice; no event is lost or shown twice, no move counts twice.
//
// All that it knows is in one file: the events that it has shown, and the last tap, with its key. A
// move is written down before it is sent, and is sent until there is an answer.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Abbot, AbbotError, filled, newKey, type GameEvent, type Move } from "abbot-client";

interface Tap {
  /** The version of the game that the user saw. */
  on: number;
  key: string;
  move: Move;
  answered: boolean;
}

interface Memory {
  shown: GameEvent[];
  tap?: Tap;
}

class Phone {
  private memory: Memory;

  constructor(
    private readonly abbot: Abbot,
    private readonly game_id: string,
    private readonly file: string,
  ) {
    this.memory = existsSync(file) ? JSON.parse(readFileSync(file, "utf-8")) : { shown: [] };
  }

  async play(): Promise<void> {
    await Promise.all([this.show(), this.useThumb()]);
  }

  private async show(): Promise<void> {
    for await (const event of this.abbot.stream(this.game_id, this.memory.shown.length))
      this.remember({ shown: [...this.memory.shown, event] });
  }

  /** An impatient user, who plays the first card that fits. */
  private async useThumb(): Promise<void> {
    // What was on its way when the app was ended.
    await this.send();
    for await (const { game, legalMoves } of this.abbot.turns(this.game_id)) {
      const move = filled(legalMoves[0]!);
      await Promise.all([this.tap(game.version, move), this.tap(game.version, move)]);
      await this.tap(game.version, move);
    }
  }

  /** A second tap on the same view of the table is none. */
  private async tap(on: number, move: Move): Promise<void> {
    if (this.memory.tap && this.memory.tap.on >= on) return;
    this.remember({ tap: { on, key: newKey(), move, answered: false } });
    await this.send();
  }

  private async send(): Promise<void> {
    const { tap } = this.memory;
    if (!tap || tap.answered) return;
    try {
      await this.abbot.move(this.game_id, tap.move, tap.key);
    } catch (error) {
      // A refusal is an answer too: the table has moved on, and the next turn shows how.
      if (!(error instanceof AbbotError)) throw error;
    }
    this.remember({ tap: { ...tap, answered: true } });
  }

  private remember(news: Partial<Memory>): void {
    this.memory = { ...this.memory, ...news };
    writeFileSync(`${this.file}.new`, JSON.stringify(this.memory));
    renameSync(`${this.file}.new`, this.file);
  }
}

const { ABBOT_URL: url = "", ABBOT_TOKEN: token = "" } = process.env;
const [game_id = "", file = "phone.json"] = process.argv.slice(2);
// However long the tunnel is.
await new Phone(new Abbot(url, { token, patience: Infinity }), game_id, file).play();
