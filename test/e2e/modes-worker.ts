import { env } from "cloudflare:workers";
import { z } from "zod";
import { apiKeys, SessionObject as Base, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";

export { TurnRunner } from "../../src/index.ts";

/** The session's object, with a look at what no API shows. */
export class SessionObject extends Base {
  /** Runs a statement on the session's own storage. */
  async query(statement: string): Promise<unknown[]> {
    return this.ctx.storage.sql.exec(statement).toArray();
  }
}

/** What the tests change between two "deploys" of this worker. */
interface Settings {
  readonly MODEL: string;
  /** Names that the mode `careful` allows, with commas between them. */
  readonly CAREFUL?: string;
  readonly HOOK?: string;
}

const settings = env as unknown as Settings;

const echo = (name: string, risk: "read" | "write" = "read") =>
  defineTool({ name, description: `Repeats a text. ${name}.`, risk, execute: () => `${name} ran` });

const askCity = defineTool({
  name: "ask_city",
  description: "Asks which city.",
  risk: "read",
  input: z.object({}),
  execute: (_, { ask }) => ask({ question: "Which city?", options: ["Rome", "Oslo"] }),
});

const wait = defineTool({
  name: "wait",
  description: "Waits until the test lets it go.",
  risk: "read",
  idempotent: true,
  async execute(_, { callId, signal }) {
    return (await fetch(`${settings.HOOK}/wait/${callId}`, { signal })).text();
  },
});

const tester = defineAgent({
  name: "tester",
  description: "An agent with modes.",
  model: settings.MODEL,
  settings: { maxOutputTokens: 1_000, thinking: true },
  instructions: "You help.",
  tools: [echo("clock"), echo("write_file", "write"), askCity, wait, lazy(echo("weather"), echo("erase", "write"))],
  plan: true,
  modes: { careful: { allow: (settings.CAREFUL ?? "clock,weather").split(","), core: ["weather"] } },
  limits: { steps: 8, repeats: 4 },
});

const helper = defineAgent({
  name: "helper",
  description: "Works on what it is told.",
  model: settings.MODEL,
  instructions: "You are the helper.",
  tools: [echo("clock"), wait, lazy(echo("weather"))],
});

const boss = defineAgent({
  name: "boss",
  description: "Hands tasks over.",
  model: settings.MODEL,
  instructions: "You are the boss.",
  tools: [echo("clock"), lazy(echo("weather"))],
  subagents: [helper],
});

const app = holdfast({ agents: [tester, boss, helper], auth: [apiKeys()] });

type Method = (...args: unknown[]) => Promise<unknown>;

export default {
  /** The worker as users have it, and `POST /test/object {"name", "method", "args"}`: one call of a session's object. */
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname !== "/test/object") return app.fetch(request, env, ctx);
    const { name, method, args }: { name: string; method: string; args: unknown[] } = await request.json();
    const stub = env.SESSIONS.getByName(name) as unknown as Record<string, Method | undefined>;
    return Response.json((await stub[method]?.(...args)) ?? null);
  },
};
