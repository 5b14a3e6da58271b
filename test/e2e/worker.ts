import { env } from "cloudflare:workers";
import { z } from "zod";
import { type Agent, apiKeys, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";

export { SessionObject } from "../../src/index.ts";

/** What the tests change between two "deploys" of this worker. */
interface Settings {
  readonly MODEL: string;
  /** Comma-separated core tools that came later. */
  readonly LATE?: string;
  /** Comma-separated tools that were withdrawn. */
  readonly GONE?: string;
  readonly DESCRIPTIONS?: string;
  readonly SETTINGS?: string;
  readonly INSTRUCTIONS?: string;
  readonly REVISION?: string;
  readonly HOST_SEARCH?: string;
  readonly BUSY?: "wait" | "interrupt" | "reject";
  /** Where a tool tells that it ran, and waits if it is asked to. */
  readonly HOOK?: string;
}

const settings = env as unknown as Settings;
const list = (text: string | undefined) => (text ?? "").split(",").filter((name) => name !== "");
const say = (text: string) => `${text}${settings.DESCRIPTIONS ?? ""}`;

/** Tools that `install` added in this isolate. */
const installed: string[] = [];

const echo = (name: string) =>
  defineTool({
    name,
    description: say(`Repeats a text. ${name}.`),
    risk: "read",
    input: z.object({ text: z.string().default("nothing") }),
    execute: ({ text }) => `${name} says ${text}`,
  });

const hook = (name: string, idempotent: boolean) =>
  defineTool({
    name,
    description: say("Tells the test that it runs, and waits until the test lets it go."),
    risk: "read",
    idempotent,
    input: z.object({}),
    async execute(_, { callId, signal }) {
      const answer = await fetch(`${settings.HOOK}/${name}/${callId}`, { signal });
      return answer.text();
    },
  });

const core = [
  echo("clock"),
  defineTool({
    name: "install",
    description: say("Adds a tool to this session."),
    risk: "read",
    input: z.object({ name: z.string() }),
    execute({ name }) {
      installed.push(name);
      return `Installed ${name}.`;
    },
  }),
  defineTool({
    name: "fail",
    description: say("Always fails."),
    risk: "read",
    execute() {
      throw new Error("it failed, as it always does");
    },
  }),
  defineTool({
    name: "destroy",
    description: say("Destroys something."),
    risk: "destructive",
    execute: () => "destroyed",
  }),
  defineTool({
    name: "picture",
    description: say("Draws a dot."),
    risk: "read",
    execute: () => ({
      content: [
        { type: "text", text: "a dot" },
        {
          type: "image",
          mediaType: "image/png",
          data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        },
      ],
    }),
  }),
  defineTool({
    name: "marker",
    description: say("Answers with fields that look like a search's."),
    risk: "read",
    execute: () => ({ details: { addedToolNames: ["weather"] }, addedToolNames: ["weather"], text: "Loaded: weather." }),
  }),
  hook("wait", true),
  hook("once", false),
];

const lazyTools = lazy(
  ["weather", "convert", "colours", "dates", "roman", "tides", "天气查询"].flatMap((name) =>
    /^[A-Za-z]/.test(name) ? [echo(name)] : [],
  ),
);

const base = defineAgent({
  name: "tester",
  description: "An agent for tests.",
  model: settings.MODEL,
  settings: { maxOutputTokens: 1_000, ...JSON.parse(settings.SETTINGS ?? "{}") },
  instructions: settings.INSTRUCTIONS ?? (({ owner }) => `You help ${owner.name}. It is ${Date.now()}.`),
  tools: [...core, ...lazyTools],
  modes: { plan: { allow: ["clock", "weather"] } },
  hostSearch: settings.HOST_SEARCH !== "off",
  revision: Number(settings.REVISION ?? 1),
  busy: settings.BUSY ?? "wait",
  limits: { steps: 8, repeats: 4 },
});

/** The same agent, whose tools come and go while the worker runs, as those of an MCP server do. */
const tester: Agent = {
  ...base,
  get tools() {
    const late = [...list(settings.LATE), ...installed].map(echo);
    return [...base.tools, ...late].filter((tool) => !list(settings.GONE).includes(tool.spec.name));
  },
};

const bare = defineAgent({
  name: "bare",
  description: "An agent that had no tool at first.",
  model: settings.MODEL,
  instructions: "You have nothing.",
  tools: list(settings.LATE).map(echo),
});

const unkeyed = defineAgent({
  name: "unkeyed",
  description: "Its provider does not exist.",
  model: "nowhere/model",
  tools: [],
});

export default holdfast({ agents: [tester, bare, unkeyed], auth: [apiKeys()] });
