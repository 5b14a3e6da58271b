import { DurableObject } from "cloudflare:workers";

/**
 * The floor: what a turn cannot do without. One call of an object that stores the message and answers the history, one
 * streamed model call, server-sent events out, one call that stores the answer. No checks, no leases, no second store.
 */
interface Env {
  readonly SESSIONS: DurableObjectNamespace<SessionObject>;
  readonly ANTHROPIC_BASE_URL: string;
  /** JSON of the definitions that Holdfast's worker declares from the start, so that all send requests of one size. */
  readonly TOOLS: string;
}

interface Message {
  readonly role: string;
  readonly text: string;
}

let delay = 0;

export class SessionObject extends DurableObject {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, role TEXT, text TEXT)");
  }

  async begin(text: string): Promise<Message[]> {
    this.#add("user", text);
    return this.ctx.storage.sql.exec<{ role: string; text: string }>("SELECT role, text FROM messages").toArray();
  }

  async finish(text: string): Promise<void> {
    this.#add("assistant", text);
  }

  #add(role: string, text: string): void {
    this.ctx.storage.sql.exec("INSERT INTO messages (role, text) VALUES (?, ?)", role, text);
  }
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/bench/delay") {
      delay = Number(url.searchParams.get("object") ?? 0);
      return new Response(null, { status: 204 });
    }
    const { messages }: { messages: { content: string }[] } = await request.json();
    const stub = env.SESSIONS.getByName(request.headers.get("x-conversation-id") ?? "");
    await pause();
    const history = await stub.begin(messages.at(-1)?.content ?? "");
    const answer = await fetch(new URL("/v1/messages", env.ANTHROPIC_BASE_URL), {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({
        model: "claude-sonnet-5",
        max_tokens: 8_000,
        stream: true,
        tools: JSON.parse(env.TOOLS),
        system: [{ type: "text", text: "You are a helpful assistant.", cache_control: { type: "ephemeral" } }],
        messages: history.map(({ role, text }) => ({ role, content: [{ type: "text", text }] })),
      }),
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    ctx.waitUntil(
      relay(answer, writable, async (text) => {
        await pause();
        await stub.finish(text);
      }),
    );
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  },
};

async function relay(answer: Response, out: WritableStream<Uint8Array>, finish: (text: string) => Promise<void>) {
  const writer = out.getWriter();
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let rest = "";
  let whole = "";
  for await (const bytes of answer.body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const event: { delta?: { text?: string } } = JSON.parse(line.slice(6));
      const text = event.delta?.text;
      if (text === undefined) continue;
      whole += text;
      await writer.write(
        encoder.encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`),
      );
    }
  }
  await finish(whole);
  await writer.write(encoder.encode("data: [DONE]\n\n"));
  await writer.close();
}

async function pause(): Promise<void> {
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
}
