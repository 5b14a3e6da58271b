import { searchTools } from "../../src/catalog/search.ts";
import type { ToolSpec } from "../../src/values/tool.ts";
import { LATE_SPEC, LAZY_SPECS, resultOf } from "./catalog.ts";
import { catalog } from "./client.ts";
import { LATE_FROM, TURNS } from "./scenario.ts";
import type { Layout, Strategy } from "./strategies.ts";

/** One of OpenAI's two APIs, as far as a conversation needs it. */
export interface Dialect {
  readonly path: string;
  tool(spec: ToolSpec, deferred: boolean): object;
  user(text: string): object;
  /** What a search that loaded these tools is answered by, where the tools are deferred. */
  found?(call: string, tools: readonly ToolSpec[]): object;
  result(call: string, text: string): object;
  /** The items as they are accepted where only these names are inline. */
  mended?(items: readonly object[], inline: ReadonlySet<string>): object[];
  body(model: string, tools: readonly object[], items: readonly object[]): object;
  /** What the next request sends back of an answer, and its calls. */
  read(answer: unknown): { readonly items: readonly object[]; readonly calls: readonly Call[] };
}

/** A call of an answer; its input as the API gave it, an object or text. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/**
 * Holds the conversation of the scenario as a runtime with this strategy would. A request that is refused is made once
 * more, mended. What came of it is in the emulator's records.
 */
export async function converseOpenAI(strategy: Strategy, dialect: Dialect, url: string, model: string): Promise<void> {
  const items: object[] = [];
  const loaded: { name: string; turn: number }[] = [];
  let lastCall: string | null = null;
  for (const [index, { text }] of TURNS.entries()) {
    const turn = index + 1;
    items.push(dialect.user(text));
    for (let step = 0; step < 8; step += 1) {
      const layout = strategy.layout({ loaded, lastCall, turn, late: turn >= LATE_FROM });
      const ask = (sent: readonly object[]) =>
        fetch(`${url}${dialect.path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer key" },
          body: JSON.stringify(dialect.body(model, toolsOf(layout, dialect), sent)),
        });
      let response = await ask(items);
      if (response.status === 400 && dialect.mended !== undefined) {
        items.splice(0, items.length, ...dialect.mended(items, new Set(layout.inline.map(({ name }) => name))));
        response = await ask(items);
      }
      if (!response.ok) throw new Error(`${strategy.name}: ${response.status} ${await response.text()}`);
      const answer = dialect.read(await response.json());
      items.push(...answer.items);
      for (const { id, name, input } of answer.calls) {
        lastCall = id;
        if (name !== "tool_search") {
          items.push(dialect.result(id, resultOf(name, input)));
          continue;
        }
        const found = searchTools(catalog, new Set(loaded.map((tool) => tool.name)), input);
        for (const added of found.addedToolNames) {
          const known = loaded.find((tool) => tool.name === added);
          if (known === undefined) loaded.push({ name: added, turn });
          else known.turn = turn;
        }
        const added = [...LAZY_SPECS, LATE_SPEC].filter((spec) => found.addedToolNames.includes(spec.name));
        const deferred = layout.deferred.length > 0 ? dialect.found?.(id, added) : undefined;
        items.push(deferred ?? dialect.result(id, found.text));
      }
      if (answer.calls.length === 0) break;
    }
  }
}

function toolsOf({ inline, deferred }: Layout, dialect: Dialect): object[] {
  const search = deferred.length > 0;
  return [
    ...inline.map((spec) => dialect.tool(spec, search && spec.name === "tool_search")),
    ...deferred.map((spec) => dialect.tool(spec, true)),
  ];
}
