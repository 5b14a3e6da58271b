import { env } from "cloudflare:workers";
import { z } from "zod";
import {
  apiKeys,
  defineAgent,
  defineTool,
  holdfast,
  lazy,
  remoteAgent,
  SessionObject,
  TurnRunner,
} from "../../../src/index.ts";

export { SessionObject, TurnRunner };

/** What the tests of A2A set. */
interface Settings {
  readonly MODEL: string;
  /** Where the tool `wait` tells that it runs, and waits. */
  readonly HOOK?: string;
  /** Comma-separated core tools that came later. */
  readonly LATE?: string;
  /** Another agent, which the tool `booker` asks, and the key for it. */
  readonly REMOTE?: string;
  readonly REMOTE_KEY?: string;
}

const settings = env as unknown as Settings;

const echo = (name: string) =>
  defineTool({
    name,
    description: `Repeats a text. ${name}.`,
    risk: "read",
    input: z.object({ text: z.string().default("nothing") }),
    execute: ({ text }) => `${name} says ${text}`,
  });

const tools = [
  echo("clock"),
  defineTool({
    name: "ask_city",
    description: "Asks which city.",
    risk: "read",
    execute: (_, { ask }) => ask({ question: "Which city?", options: ["Rome", "Oslo"] }),
  }),
  defineTool({
    name: "wait",
    description: "Tells the test that it runs, and waits until the test lets it go.",
    risk: "read",
    idempotent: true,
    async execute(_, { callId, signal, progress }) {
      progress("waiting");
      const answer = await fetch(`${settings.HOOK}/wait/${callId}`, { signal });
      return answer.text();
    },
  }),
  defineTool({ name: "wipe", description: "Wipes all.", risk: "destructive", execute: () => "wiped" }),
  ...(settings.REMOTE === undefined
    ? []
    : [remoteAgent({ url: settings.REMOTE, name: "booker", auth: settings.REMOTE_KEY ?? "", timeout: "20s" })]),
  ...(settings.LATE ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map(echo),
];

const agent = (name: string, allowDestructive: boolean) =>
  defineAgent({
    name,
    description: `The agent ${name}.`,
    model: settings.MODEL,
    settings: { maxOutputTokens: 1_000 },
    instructions: "You help.",
    tools: [...tools, lazy(echo("weather"), echo("convert"))],
    allowDestructive,
    limits: { steps: 8, repeats: 4 },
  });

export default holdfast({ agents: [agent("tester", false), agent("bold", true)], auth: [apiKeys()] });
