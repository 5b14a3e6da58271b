import { collectEvidence, deriveActive } from "../../../src/catalog/activation.ts";
import { toolCatalog } from "../../../src/catalog/catalog.ts";
import { SEARCH_SPEC, searchTools } from "../../../src/catalog/search.ts";
import type { Tool } from "../../../src/define/types.ts";
import type { ModelEvent } from "../../../src/providers/contract.ts";
import { demo } from "../../../src/providers/demo/provider.ts";
import type { AssistantEntry, CallBlock, Entry, Numbered, ToolResult } from "../../../src/values/entry.ts";
import { SEARCH_TOOL } from "../../../src/values/tool.ts";
import { ToolDeferrals } from "../../../src/values/tool-deferrals.ts";
import { run } from "../../toolkit/run.ts";

const MOST_STEPS = 6;
const made = { v: 1, origin: "runtime", at: 0, turn: "t" } as const;

/** A conversation with the demo model, without sessions and turns: entries in, requests out, tools run in between. */
export class DemoSession {
  readonly entries: Numbered[] = [];
  readonly bodies: string[] = [];
  readonly calls: CallBlock[] = [];
  readonly #tools: readonly Tool[];
  readonly #deferrals = ToolDeferrals.parse(null, "demo");

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  add(entry: Entry): void {
    this.entries.push({ seq: this.entries.length + 1, entry });
  }

  /** Says something and runs the turn that follows. Gives the text of its last answer. */
  async say(text: string): Promise<string> {
    this.add({ ...made, kind: "user", content: [{ type: "text", text }] });
    for (let step = 0; step < MOST_STEPS; step++) {
      const { text: said, calls } = await this.#ask();
      if (calls.length === 0) return said;
      const results = await Promise.all(calls.map((call) => this.#run(call)));
      this.add({ ...made, kind: "results", of: this.entries.length, results });
    }
    throw new Error("the demo model does not come to an end");
  }

  /** The request as it stands. */
  body(): string {
    const catalog = toolCatalog({ tools: this.#tools, modes: {} }, "agent");
    const { active } = deriveActive({ evidence: collectEvidence(this.entries), catalog });
    const specs = [...catalog.core, ...catalog.lazy.filter((tool) => active.includes(tool.spec.name))].map(
      (tool) => tool.spec,
    );
    const core = specs.slice(0, catalog.core.length);
    const { marked } = this.#deferrals.markAt(this.#lastCall(), [...core, SEARCH_SPEC, ...specs.slice(core.length)]);
    const deferred = marked.filter((tool) => tool.loadPoint !== undefined);
    const inline = marked.filter((tool) => tool.loadPoint === undefined);
    const items = demo.items({
      tools: [],
      entries: this.entries,
      deferrals: this.#deferrals,
      declared: new Set(marked.map((tool) => tool.name)),
      deferral: true,
      chain: "demo/scripted",
      epoch: 1,
      runningTurn: "t",
    });
    return demo.body({
      model: "scripted",
      prefix: {
        settings: demo.settings("scripted", {}, "key"),
        tools: inline.map((tool) => demo.define(tool, false, "scripted")),
        system: demo.system("You help."),
        ttl: "5m",
      },
      deferred: deferred.map((tool) => demo.define(tool, true, "scripted")),
      items,
      withheld: [],
      anchor: null,
      previous: null,
      call: { maxOutputTokens: 8_000 },
      blobs: new Map(),
    }).body;
  }

  async #ask(): Promise<{ text: string; calls: CallBlock[] }> {
    const body = this.body();
    this.bodies.push(body);
    const blocks = (await collect(body)).flatMap((event) => (event.type === "block" ? [event.block] : []));
    const entry: AssistantEntry = {
      ...made,
      kind: "assistant",
      model: "demo/scripted",
      chain: "demo/scripted",
      epoch: 1,
      blocks,
      stop: "end",
    };
    this.add(entry);
    const calls = blocks.flatMap((block) => (block.type === "call" ? [block] : []));
    this.calls.push(...calls);
    return { text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""), calls };
  }

  async #run({ id, name, input }: CallBlock): Promise<ToolResult> {
    if (name === SEARCH_TOOL) {
      const { text, addedToolNames } = searchTools(
        toolCatalog({ tools: this.#tools, modes: {} }, "agent"),
        new Set(),
        JSON.parse(input),
      );
      return { call: id, name, status: "ok", content: [{ type: "text", text }], details: { addedToolNames } };
    }
    const tool = this.#tools.find((known) => known.spec.name === name);
    if (tool === undefined) throw new Error(`the demo model called ${name}, which is not there`);
    try {
      const output = await run(tool, JSON.parse(input));
      const text = typeof output === "string" ? output : JSON.stringify(output);
      return { call: id, name, status: "ok", content: [{ type: "text", text }] };
    } catch (thrown) {
      return { call: id, name, status: "error", content: [{ type: "text", text: String(thrown) }] };
    }
  }

  #lastCall(): string | null {
    const results = this.entries.flatMap(({ entry }) => (entry.kind === "results" ? entry.results : []));
    return results.findLast((result) => result.status === "ok")?.call ?? null;
  }
}

/** All events of an answer. */
export async function collect(
  body: string,
  signal = new AbortController().signal,
  model = "scripted",
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const env: Cloudflare.Env = Object.create(null);
  for await (const event of demo.stream(model, body, { env, signal })) events.push(event);
  return events;
}
