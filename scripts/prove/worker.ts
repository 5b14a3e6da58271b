import { env } from "cloudflare:workers";
import { apiKeys, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";
import { everyday, occasional } from "../../src/toolkit/toolkit.ts";

export { SessionObject } from "../../src/index.ts";

interface Settings {
  readonly MODEL: string;
  /** Set once the late tool is there. */
  readonly LATE?: string;
}

const { MODEL, LATE } = env as unknown as Settings;

const late = defineTool({
  name: "stock_level",
  description: "Tells how many pieces of an article are in stock. Takes the article's number.",
  risk: "read",
  input: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
  execute: ({ article }) => `There are 12 pieces of ${article}.`,
});

/** Long enough for every model's smallest cached prefix, which is 4,096 tokens for some. */
const HOUSE_RULES = Array.from(
  { length: 130 },
  (_, index) =>
    `${index + 1}. In case number ${index + 1} of the handbook, answer in one sentence, name the tool that the answer ` +
    `rests on, keep every figure as the tool gave it, and say so if a figure is missing.`,
);

const agent = defineAgent({
  name: "prover",
  description: "Shows what the provider's cache makes of a conversation.",
  model: MODEL,
  settings: { maxOutputTokens: 2_000 },
  instructions: [
    "You answer with the help of tools. Look for one by tool_search wherever none of yours fits.",
    ...HOUSE_RULES,
  ].join("\n"),
  tools: [...everyday, ...(LATE ? [late] : []), lazy(occasional)],
});

const app = holdfast({ agents: [agent], auth: [apiKeys()] });

export default {
  /** The worker, and `GET /prove/calls`: what the ledger of the conversation `proof` has recorded. */
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname !== "/prove/calls") return app.fetch(request, env, ctx);
    const name = JSON.stringify(["prover", "prover", "proof"]);
    return Response.json((await env.SESSIONS.getByName(name).calls(0, 1_000))?.calls ?? []);
  },
};
