import { env } from "cloudflare:workers";
import { z } from "zod";
import { apiKeys, SessionObject as Base, defineAgent, defineTool, holdfast, type Quotas } from "../../src/index.ts";

export { TurnRunner } from "../../src/index.ts";

/** The session's object, with a look at what no API shows. */
export class SessionObject extends Base {}

const settings = env as unknown as { readonly MODEL: string; readonly HOOK: string; readonly QUOTAS: string };

const wait = defineTool({
  name: "wait",
  description: "Waits until the test lets it go.",
  risk: "read",
  input: z.object({}),
  async execute(_, { callId, signal }) {
    const answer = await fetch(`${settings.HOOK}/wait/${callId}`, { signal });
    return answer.text();
  },
});

const echo = defineTool({ name: "echo", description: "Repeats.", risk: "read", execute: () => "echo" });
const asks = defineTool({ name: "asks", description: "Asks.", execute: (_, { ask }) => ask("What?") });
const options = {
  description: "For tests.",
  model: settings.MODEL,
  instructions: "Answer.",
  tools: [wait, echo, asks],
};

const quotas: Partial<Quotas> = JSON.parse(settings.QUOTAS);

export default holdfast({
  agents: [
    defineAgent({ name: "tester", ...options }),
    defineAgent({ name: "brief", ...options, limits: { seconds: 1 } }),
    defineAgent({ name: "frugal", ...options, limits: { tokens: 1 } }),
  ],
  auth: [apiKeys()],
  quotas,
});
