import * as z from "zod";
import { DefinitionError } from "../define/definition-error.ts";
import type { Duration } from "../define/duration.ts";
import { unknownOptions, unknownOptionsProblem } from "../define/options.ts";
import { defineTool } from "../define/tool.ts";
import type { Tool } from "../define/types.ts";
import type { Risk } from "../values/tool.ts";

/** Another agent, reached over A2A. */
export interface RemoteAgentOptions {
  /** Its root, under which its card stands: `https://example.com/agents/booker`. */
  readonly url: string;
  /** A key for it, sent as `Authorization: Bearer …`; or a function of the worker's bindings. */
  readonly auth?: string | ((context: { env: Cloudflare.Env }) => string);
  /** The tool's name; else the end of its URL's path, or its host. */
  readonly name?: string;
  /** What it is for: models choose it by this. */
  readonly description?: string;
  /** Default `write`: nobody here knows what it does. */
  readonly risk?: Risk;
  /** How long one answer may take; default 5 minutes. */
  readonly timeout?: Duration;
}

const OPTIONS = ["url", "auth", "name", "description", "risk", "timeout"];

const INPUT = z.object({
  message: z.string().min(1).describe("What to tell the agent, in full sentences."),
  task: z.string().optional().describe("The task that the message goes on with: only where the agent asked something."),
});

/**
 * Gives an agent another agent as a tool. Its card is fetched when it is first asked and kept in the isolate; in one
 * session all messages go to one conversation with it. What it reports while it works is shown as progress, a question
 * of it pauses the turn, and a turn that is stopped stops it too. Throws {@link DefinitionError} when it can't work.
 */
export function remoteAgent(options: RemoteAgentOptions): Tool {
  const unknown = unknownOptions(options, OPTIONS);
  if (unknown.length > 0) throw new DefinitionError(unknownOptionsProblem("remoteAgent()", unknown, OPTIONS), {});
  const { url, auth, risk = "write", timeout = "5m" } = options;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new DefinitionError(`remoteAgent() needs the http(s) URL of an agent, not ${JSON.stringify(url)}`, {});
  }
  const name = options.name ?? nameOf(parsed);
  const description =
    options.description ?? `Asks the agent "${name}", which works on its own. Tell it all that it needs to know.`;
  const remote = { url: url.replace(/\/+$/, ""), name, auth: auth ?? null };
  return defineTool({
    name,
    description: `${description} Give \`task\` only to answer a question that it asked.`,
    input: INPUT,
    risk,
    timeout,
    async execute(input, context) {
      const { askRemote } = await import("./remote-agent/ask.ts");
      return askRemote(remote, input, context);
    },
  });
}

/** A tool's name from a URL: `booker` of `https://example.com/agents/booker`, else `ask_example_com`. */
function nameOf({ pathname, hostname }: URL): string {
  const end = pathname.split("/").findLast((part) => part !== "") ?? "";
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(end)
    ? end
    : `ask_${hostname.replaceAll(/[^A-Za-z0-9]+/g, "_")}`.slice(0, 64);
}
