import type { EpochSettings } from "../../values/settings.ts";
import type { ToolSpec } from "../../values/tool.ts";
import type { Definition, ModelFacts, Provider } from "../contract.ts";
import { writeBody } from "./body.ts";
import { renderItems } from "./render.ts";
import { stream } from "./stream.ts";

const FACTS: ModelFacts = {
  deferral: true,
  toolChanges: true,
  bound: false,
  dropsThinking: false,
  minCache: 512,
  window: 200_000,
  maxOutput: 8_000,
  refuses: new Set<never>(),
  thinking: "none",
};

/** A model that needs no key and no network: it follows a script, and says so. Its one model is `scripted`. */
export const demo: Provider = {
  name: "demo",
  wire: "demo/1",
  facts: () => FACTS,
  missing: () => null,
  settings,
  withoutCalls: (settings) => `${settings},"calls":false`,
  system: (text) => (text.trim() === "" ? [] : [JSON.stringify(text)]),
  define,
  schema: ({ bytes }) => JSON.parse(bytes).inputSchema,
  items: renderItems,
  body: writeBody,
  stream,
};

function settings(model: string, { effort }: EpochSettings): string {
  return `"model":${JSON.stringify(model)}${effort === undefined ? "" : `,"effort":"${effort}"`}`;
}

function define({ name, description, inputSchema }: ToolSpec, deferred: boolean): Definition {
  const definition = { name, description, inputSchema, ...(deferred ? { deferred } : {}) };
  return { name, bytes: JSON.stringify(definition) };
}
