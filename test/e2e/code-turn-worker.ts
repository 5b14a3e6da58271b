import { apiKeys, defineAgent, defineTool, holdfast } from "../../src/index.ts";

export { SessionObject, TurnRunner } from "../../src/index.ts";

const clock = defineTool({ name: "clock", description: "Tells the time.", risk: "read", execute: () => "noon" });

const reporter = defineAgent({
  name: "reporter",
  description: "Reports by itself.",
  model: "anthropic/claude-sonnet-5",
  instructions: ({ owner }) => `You report to ${owner.name}.`,
  tools: [clock],
});

const app = holdfast({ agents: [reporter], auth: [apiKeys()] });

/** A worker that starts turns by itself: here when it is told to, as a cron trigger or a queue would. */
export default {
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname !== "/tick") return app.fetch(request, env, ctx);
    const { read = true, ...turn } = (await request.json()) as Parameters<typeof app.turn>[2] & { read?: boolean };
    try {
      const events = [];
      const turning = app.turn(env, ctx, turn);
      if (read) for await (const event of turning) events.push(event);
      return Response.json(events);
    } catch (error) {
      return Response.json({ thrown: String(error) }, { status: 500 });
    }
  },
};
