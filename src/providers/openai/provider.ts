import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import type { EpochSettings } from "../../values/settings.ts";
import { SEARCH_TOOL, type ToolSpec } from "../../values/tool.ts";
import type { Definition, ModelEvent, Provider, ProviderDeps } from "../contract.ts";
import { writeBody } from "./body.ts";
import { modelFacts } from "./models.ts";
import { inputPart } from "./parts.ts";
import { renderItems } from "./render.ts";
import { send } from "./send.ts";
import { readStream } from "./stream.ts";
import { isStrict } from "./strict.ts";

/** OpenAI's Responses API on the official SDK. Nothing is stored there: each request brings the whole conversation. */
export const openai: Provider = {
  name: "openai",
  wire: "openai/1",
  facts: modelFacts,
  missing: (env) => (env.OPENAI_API_KEY || env.OPENAI_BASE_URL ? null : "OPENAI_API_KEY is not set for this worker."),
  settings,
  withoutCalls: (settings) => `${settings},"tool_choice":"none"`,
  system: (text) =>
    text.trim() === "" ? [] : [`{"role":"developer","content":[${inputPart({ type: "text", text })}]}`],
  define,
  schema: ({ bytes }) => JSON.parse(bytes).parameters,
  items: renderItems,
  compactionTrigger: '{"type":"compaction_trigger"}',
  body: writeBody,
  stream,
};

function settings(model: string, { effort, thinking, parallelCalls }: EpochSettings, cacheKey: string): string {
  const { reasoning, refuses } = modelFacts(model);
  const fields = [`"model":${JSON.stringify(model)}`, '"store":false', `"prompt_cache_key":"${cacheKey}"`];
  if (reasoning) fields.push('"include":["reasoning.encrypted_content"]');
  const asked = [
    ...(effort !== undefined && !refuses.has("effort") ? [`"effort":"${effort}"`] : []),
    // These models think anyway; who asks for thinking wants to read it.
    ...(thinking !== undefined && thinking !== false && reasoning ? ['"summary":"auto"'] : []),
  ];
  if (asked.length > 0) fields.push(`"reasoning":{${asked.join(",")}}`);
  if (parallelCalls === false) fields.push('"parallel_tool_calls":false');
  return fields.join(",");
}

/** A function, or the search tool in the form that the model's table has for it. Deferred ones look the same. */
function define({ name, description, inputSchema }: ToolSpec, _deferred: boolean, model: string): Definition {
  const said = `"description":${JSON.stringify(description)},"parameters":${JSON.stringify(inputSchema)}`;
  if (name === SEARCH_TOOL && modelFacts(model).load === "search") {
    return { name, bytes: `{"type":"tool_search","execution":"client",${said}}` };
  }
  return { name, bytes: `{"type":"function","name":"${name}",${said},"strict":${isStrict(inputSchema)}}` };
}

async function* stream(_model: string, body: string, deps: ProviderDeps): AsyncGenerator<ModelEvent> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = deps.env;
  yield* send<ResponseStreamEvent>({ apiKey, baseURL, path: "/responses", body, deps }, readStream);
}
