import { apiKeys, defineAgent, defineTool, holdfast, lazy, openaiCompatible } from "../../src/index.ts";

export { SessionObject, TurnRunner } from "../../src/index.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      ACME_URL?: string;
      ACME_KEY?: string;
    }
  }
}

const tool = (name: string) =>
  defineTool({ name, description: `The ${name} tool.`, risk: "read", execute: () => `${name} done` });

const agent = defineAgent({
  name: "helper",
  description: "Helps on whatever model answers.",
  model: "openai/gpt-5.4",
  fallback: ["acme/large"],
  instructions: "You help.",
  tools: [tool("clock"), lazy(tool("weather"))],
});

export default holdfast({
  agents: [agent],
  auth: [apiKeys()],
  providers: {
    acme: openaiCompatible({
      baseURL: ({ env }) => env.ACME_URL,
      apiKey: ({ env }) => env.ACME_KEY,
      headers: { "x-team": "support" },
      deferral: "bridge",
    }),
  },
});
