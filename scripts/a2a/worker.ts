import { holdfast } from "../../src/index.ts";
import { kitAgent, kitModel } from "./agent.ts";
import { told } from "./kit.ts";

export { SessionObject, TurnRunner } from "../../src/index.ts";

const app = holdfast({ agents: [kitAgent], providers: { kit: kitModel } });

/** The worker as it is, but that the model is told the ids of the conformance kit's messages. */
export default {
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    if (request.method !== "POST") return app.fetch(request, env, ctx);
    const text = await request.text();
    const immediately = "A2A_IMMEDIATELY" in env;
    return app.fetch(new Request(request, { body: told(text, immediately) }), env, ctx);
  },
};
