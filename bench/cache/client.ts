import { toolCatalog } from "../../src/catalog/catalog.ts";
import { searchTools } from "../../src/catalog/search.ts";
import type { ToolSpec } from "../../src/values/tool.ts";
import { CORE_SPECS, LAZY_SPECS, resultOf, SYSTEM } from "./catalog.ts";
import { LATE_FROM, TURNS } from "./scenario.ts";
import type { Layout, Strategy } from "./strategies.ts";

/** Where and to which model a client speaks. */
export interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly thinking: boolean;
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

interface Result {
  readonly call: string;
  readonly text: string;
}

type Message =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; blocks: readonly Block[] }
  | { readonly role: "results"; readonly results: readonly Result[] };

const CACHED = { cache_control: { type: "ephemeral" } };

/** The search all strategies have: the one Holdfast has, over the same catalog. */
export const catalog = toolCatalog(
  {
    tools: [
      ...CORE_SPECS.map((spec) => ({ spec, risk: "read", lazy: false }) as const),
      ...LAZY_SPECS.map((spec) => ({ spec, risk: "read", lazy: true }) as const),
    ],
    modes: {},
  },
  "agent",
);

/**
 * Holds the conversation of the scenario as a runtime with this strategy would. Its cache markers are as good as
 * Holdfast's (last inline tool, system, where the last request ended, the end), so that only the tools differ. A request
 * that is refused is made once more without any thinking, as clients do. What came of it is in the emulator's records.
 */
export async function converse(strategy: Strategy, endpoint: Endpoint): Promise<void> {
  const messages: Message[] = [];
  const loaded: { name: string; turn: number }[] = [];
  let lastCall: string | null = null;
  let anchor: number | null = null;
  for (const [index, { text }] of TURNS.entries()) {
    const turn = index + 1;
    messages.push({ role: "user", text });
    for (let step = 0; step < 8; step += 1) {
      const layout = strategy.layout({ loaded, lastCall, turn, late: turn >= LATE_FROM });
      let sent = bodyOf(endpoint, layout, messages, anchor);
      let response = await post(endpoint, sent.body);
      if (response.status === 400) {
        dropThinking(messages);
        sent = bodyOf(endpoint, layout, messages, null);
        response = await post(endpoint, sent.body);
      }
      if (!response.ok) throw new Error(`${strategy.name}: ${response.status} ${await response.text()}`);
      anchor = sent.end;
      const answer: { content: Block[]; stop_reason: string } = JSON.parse(await response.text());
      messages.push({ role: "assistant", blocks: answer.content });
      const calls = answer.content.filter((block) => block.type === "tool_use");
      if (calls.length === 0) break;
      const results = calls.map((one): Result => {
        const { id = "", name = "", input } = one;
        lastCall = id;
        if (name !== "tool_search") return { call: id, text: resultOf(name, input) };
        const found = searchTools(catalog, new Set(loaded.map((tool) => tool.name)), input);
        for (const added of found.addedToolNames) {
          // A tool that was loaded in an earlier turn and is searched again counts for this turn.
          const known = loaded.find((tool) => tool.name === added);
          if (known === undefined) loaded.push({ name: added, turn });
          else known.turn = turn;
        }
        return { call: id, text: found.text };
      });
      messages.push({ role: "results", results });
    }
  }
}

function post({ url }: Endpoint, body: string): Promise<Response> {
  const headers = { "content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01" };
  return fetch(new URL("/v1/messages", url), { method: "POST", headers, body });
}

/** The request's body, and the number of the block that carries the end marker. */
function bodyOf(
  { model, thinking }: Endpoint,
  { inline, deferred, references }: Layout,
  messages: readonly Message[],
  anchor: number | null,
): { body: string; end: number } {
  const wire = messages.map((message) => wireOf(message, references));
  const blocks = wire.flatMap(({ content }): Wire[] => content);
  const end = blocks.length - 1;
  for (const at of new Set([anchor ?? end, end])) {
    const block = blocks[at];
    if (block !== undefined && block.type !== "thinking") Object.assign(block, CACHED);
  }
  const body = {
    model,
    ...(thinking ? { thinking: { type: "adaptive" } } : {}),
    max_tokens: 8_000,
    tools: [
      ...inline.map((spec, index) => ({ ...toolOf(spec), ...(index === inline.length - 1 ? CACHED : {}) })),
      ...deferred.map((spec) => ({ ...toolOf(spec), defer_loading: true })),
    ],
    system: [{ type: "text", text: SYSTEM, ...CACHED }],
    messages: wire,
  };
  return { body: JSON.stringify(body), end };
}

function toolOf({ name, description, inputSchema }: ToolSpec) {
  return { name, description, input_schema: inputSchema };
}

/** A block as it is sent. */
interface Wire {
  readonly type: string;
  readonly [field: string]: unknown;
}

function wireOf(message: Message, references: Layout["references"]): { role: string; content: Wire[] } {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text }] };
    case "assistant":
      return { role: "assistant", content: message.blocks.map((block) => ({ ...block })) };
    case "results":
      return {
        role: "user",
        content: message.results.map(({ call, text }) => {
          const names = references.get(call);
          const content =
            names === undefined
              ? [{ type: "text", text }]
              : names.map((name) => ({ type: "tool_reference", tool_name: name }));
          return { type: "tool_result", tool_use_id: call, content };
        }),
      };
  }
}

function dropThinking(messages: readonly Message[]): void {
  for (const message of messages) {
    if (message.role === "assistant") message.blocks = message.blocks.filter(({ type }) => type !== "thinking");
  }
}
