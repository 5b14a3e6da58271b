import { env } from "cloudflare:workers";
import { apiKeys, SessionObject as Base, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";
import { catalogOf } from "./tools.ts";

/** The session's object, which can be made large at once. */
export class SessionObject extends Base {
  /** Adds entries behind those there are, as a client's history would: a request of a client holds 2,000 messages. */
  async grow(texts: readonly string[]): Promise<void> {
    const { sql } = this.ctx.storage;
    const { last_seq, rev } = sql.exec<{ last_seq: number; rev: number }>("SELECT last_seq, rev FROM session").one();
    this.ctx.storage.transactionSync(() => {
      for (const [index, text] of texts.entries()) {
        const seq = last_seq + index + 1;
        sql.exec("INSERT INTO entries (seq, part, rev, text) VALUES (?, 0, ?, ?)", seq, rev + 1, text);
      }
      sql.exec("UPDATE session SET last_seq = ?, rev = ?", last_seq + texts.length, rev + 1);
    });
    await this.flushed();
  }
}

/** How many lazy tools there are. */
const { TOOLS_COUNT } = env as unknown as { readonly TOOLS_COUNT?: string };

const agent = defineAgent({
  name: "assistant",
  description: "The agent of the growth benchmark.",
  model: "anthropic/claude-sonnet-5",
  instructions: "You are a helpful assistant.",
  tools: lazy(
    catalogOf(Number(TOOLS_COUNT ?? 10)).map(({ name, description, inputSchema }) =>
      defineTool({ name, description, input: inputSchema, risk: "read", execute: () => "done" }),
    ),
  ),
});

const app = holdfast({ agents: [agent], auth: [apiKeys()] });

export default {
  /** The worker, and `POST /bench/grow?conversation=…` with the texts of entries. */
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname !== "/bench/grow") return app.fetch(request, env, ctx);
    const name = JSON.stringify(["bench", "assistant", url.searchParams.get("conversation")]);
    await (env.SESSIONS.getByName(name) as unknown as Pick<SessionObject, "grow">).grow(await request.json());
    return new Response(null, { status: 204 });
  },
};
