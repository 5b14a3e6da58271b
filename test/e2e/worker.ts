import { env } from "cloudflare:workers";
import { z } from "zod";
import {
  type Agent,
  apiKeys,
  SessionObject as Base,
  consoleSpans,
  defineAgent,
  defineTool,
  holdfast,
  lazy,
  type ModelCall,
} from "../../src/index.ts";

export { TurnRunner } from "../../src/index.ts";

/** The session's object, with a look at what no API shows. */
export class SessionObject extends Base {
  readonly #cursors: { readonly rowsWritten: number }[];

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    const cursors: { readonly rowsWritten: number }[] = [];
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
      const cursor = exec<T>(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    };
    super(ctx, env);
    this.#cursors = cursors;
  }

  /** Rows written since the last time this was asked. */
  async written(): Promise<number> {
    return this.#cursors.splice(0).reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
  }

  /** Runs a statement on the session's own storage. */
  async query(statement: string): Promise<unknown[]> {
    return this.ctx.storage.sql.exec(statement).toArray();
  }
}

/** What the tests change between two "deploys" of this worker. */
interface Settings {
  readonly MODEL: string;
  /** Comma-separated core tools that came later. */
  readonly LATE?: string;
  /** Comma-separated lazy tools that came later. */
  readonly LATE_LAZY?: string;
  /** Comma-separated tools that were withdrawn. */
  readonly GONE?: string;
  /** Appended to every description. */
  readonly DESCRIPTIONS?: string;
  /** `reversed`: the core tools are listed in the other order. */
  readonly ORDER?: string;
  readonly SETTINGS?: string;
  /** JSON of the agent's `compaction`. */
  readonly COMPACTION?: string;
  readonly INSTRUCTIONS?: string;
  readonly REVISION?: string;
  readonly HOST_SEARCH?: string;
  readonly BUSY?: "wait" | "interrupt" | "reject";
  /** Where a tool tells that it ran, and waits if it is asked to. */
  readonly HOOK?: string;
  /** `on`: model calls and spans are written to the console. */
  readonly TRACE?: string;
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
    execute: () => ({
      details: { addedToolNames: ["weather"] },
      addedToolNames: ["weather"],
      text: "Loaded: weather.",
    }),
  }),
  hook("wait", true),
  hook("once", false),
];

const wipe = defineTool({
  name: "wipe",
  description: say("Wipes everything, for good."),
  risk: "destructive",
  execute: () => "wiped",
});

const lazyTools = lazy(
  wipe,
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
  tools: [...(settings.ORDER === "reversed" ? core.toReversed() : core), ...lazyTools],
  modes: { plan: { allow: ["clock", "weather"] } },
  hostSearch: settings.HOST_SEARCH !== "off",
  revision: Number(settings.REVISION ?? 1),
  compaction: JSON.parse(settings.COMPACTION ?? "{}"),
  busy: settings.BUSY ?? "wait",
  limits: { steps: 8, repeats: 4 },
});

const { index: _, ...unindexed } = base;

/** The same agent, whose tools come and go while the worker runs, as those of an MCP server do. */
const tester: Agent = {
  ...unindexed,
  get tools() {
    const late = [...list(settings.LATE), ...installed].map(echo);
    return [...base.tools, ...late, ...lazy(list(settings.LATE_LAZY).map(echo))].filter(
      (tool) => !list(settings.GONE).includes(tool.spec.name),
    );
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

const watched = {
  onModelCall: (call: ModelCall) => console.log(JSON.stringify({ event: "model call", ...call })),
  trace: consoleSpans(),
};

const app = holdfast({
  agents: [tester, bare, unkeyed],
  auth: [apiKeys()],
  ...(settings.TRACE === "on" ? watched : {}),
});

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
