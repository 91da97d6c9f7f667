// Server-sent events, as far as Abbot sends them (WHATWG HTML, section 9.2).

export interface Message {
  event: string;
  data: string;
  /** Milliseconds to wait before coming again, if it says so. */
  retry?: number;
}

/** The messages in a body. One that was cut off before its end is none. `alive` is called with every
 * piece that comes. */
export async function* messages(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let message: Message = { event: "message", data: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          take(message, line);
          continue;
        }
        if (message.data !== "" || message.retry !== undefined) yield message;
        message = { event: "message", data: "" };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function take(message: Message, line: string): void {
  const colon = line.indexOf(":");
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (field === "event") message.event = value;
  else if (field === "data") message.data += (message.data && "\n") + value;
  else if (field === "retry" && /^\d+$/.test(value)) message.retry = Number(value);
}
