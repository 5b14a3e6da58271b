import type { Timing } from "./read-stream.ts";

interface Frame {
  readonly type?: string;
  readonly id?: string;
  readonly done?: boolean;
  readonly error?: boolean;
  readonly body?: string;
}

interface Message {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly object[];
}

interface Conversation {
  readonly socket: WebSocket;
  /** Told every frame of the turn that runs. */
  hear: (frame: Frame) => void;
}

/**
 * Talks to Cloudflare's chat agents as their React client does: a WebSocket for each conversation, which sends all
 * messages with each turn. `base` ends with a slash; the conversation's name is added to it.
 */
export function chatOverWebSocket(base: () => URL) {
  const open = new Map<string, Promise<Conversation>>();
  // Kept when connections are closed, as a page keeps what it shows.
  const histories = new Map<string, Message[]>();
  let delay = 0;
  return {
    delay(ms: number) {
      delay = ms;
    },
    close() {
      for (const one of open.values()) one.then(({ socket }) => socket.close()).catch(() => undefined);
      open.clear();
    },
    async say(name: string, text: string): Promise<Timing> {
      // A session that is spoken to for the first time connects here, outside of the turn's time.
      const opening = open.get(name) ?? connect(new URL(name, base()));
      open.set(name, opening);
      const conversation = await opening;
      const messages = histories.get(name) ?? [];
      histories.set(name, messages);
      const since = performance.now();
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      const id = crypto.randomUUID();
      messages.push({ id, role: "user", parts: [{ type: "text", text }] });
      let first: number | null = null;
      let answer = "";
      await new Promise<void>((resolve, reject) => {
        conversation.hear = (frame) => {
          if (frame.type !== "cf_agent_use_chat_response" || frame.id !== id) return;
          if (frame.error) return reject(new Error(frame.body ?? "the agent answered with an error"));
          const delta = deltaOf(frame.body);
          if (delta !== null) first ??= performance.now() - since;
          answer += delta ?? "";
          if (frame.done) resolve();
        };
        const body = JSON.stringify({ messages });
        conversation.socket.send(
          JSON.stringify({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body } }),
        );
      });
      const whole = performance.now() - since;
      if (first === null) throw new Error("the agent answered nothing");
      messages.push({ id: `${id}-a`, role: "assistant", parts: [{ type: "text", text: answer }] });
      return { first, whole };
    },
  };
}

async function connect(url: URL): Promise<Conversation> {
  url.protocol = "ws:";
  const socket = new WebSocket(url.href);
  const conversation: Conversation = { socket, hear: () => undefined };
  socket.addEventListener("message", ({ data }) => conversation.hear(JSON.parse(String(data))));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`no connection to ${url}`)));
  });
  return conversation;
}

function deltaOf(body: string | undefined): string | null {
  if (!body) return null;
  try {
    const part: { type?: string; delta?: string } = JSON.parse(body.replace(/^data: /, ""));
    return part.type === "text-delta" ? (part.delta ?? "") : null;
  } catch {
    return null;
  }
}
