import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { EpochSettings } from "../../values/settings.ts";
import type { ToolSpec } from "../../values/tool.ts";
import type { Definition, ModelEvent, Provider, ProviderDeps } from "../contract.ts";
import { RETRIES } from "../contract.ts";
import { oneAnswer } from "../one-answer.ts";
import { patientFetch } from "../patient-fetch.ts";
import { writeBody } from "./body.ts";
import { refused } from "./errors.ts";
import { modelFacts } from "./models.ts";
import { textBlock } from "./parts.ts";
import { renderItems } from "./render.ts";
import { readStream } from "./stream.ts";

/** How a message of ours that changes tools begins, and what the API wants to be told in a header to take it. */
const SYSTEM_MESSAGE = '{"role":"system","content":[';
const TOOL_CHANGES = "mid-conversation-system-2026-04-07,mid-conversation-tool-changes-2026-07-01";

/** The beta of the API's own compaction. */
const COMPACTION = "compact-2026-01-12";

/** Anthropic's Messages API on the official SDK. */
export const anthropic: Provider = {
  name: "anthropic",
  wire: "anthropic/1",
  facts: modelFacts,
  missing: (env) =>
    env.ANTHROPIC_API_KEY || env.ANTHROPIC_BASE_URL ? null : "ANTHROPIC_API_KEY is not set for this worker.",
  settings: epochFields,
  withoutCalls: (settings) => `${settings.replace(/,"tool_choice":\{[^}]*\}/, "")},"tool_choice":{"type":"none"}`,
  system: (text) => (text.trim() === "" ? [] : [textBlock(text)]),
  define,
  schema: ({ bytes }) => JSON.parse(bytes).input_schema,
  items: renderItems,
  toolChange,
  body: writeBody,
  stream,
};

function epochFields(model: string, settings: EpochSettings): string {
  const facts = modelFacts(model);
  const fields = [`"model":${JSON.stringify(model)}`];
  if (settings.thinking !== undefined && settings.thinking !== false) {
    if (facts.thinking === "adaptive") fields.push('"thinking":{"type":"adaptive"}');
    else fields.push(`"thinking":{"type":"enabled","budget_tokens":${budget(settings.thinking)}}`);
  }
  if (settings.effort !== undefined && !facts.refuses.has("effort")) {
    fields.push(`"output_config":{"effort":"${settings.effort}"}`);
  }
  if (settings.parallelCalls === false) {
    fields.push('"tool_choice":{"type":"auto","disable_parallel_tool_use":true}');
  }
  if (settings.compactAt !== undefined && facts.compacts) {
    const trigger = `"trigger":{"type":"input_tokens","value":${settings.compactAt}}`;
    fields.push(
      `"context_management":{"edits":[{"type":"compact_20260112",${trigger},"pause_after_compaction":true}]}`,
    );
  }
  return fields.join(",");
}

/** Tokens of thinking where a model wants a number; 1,024 is the least the API takes. */
function budget(thinking: number | boolean): number {
  return typeof thinking === "number" ? Math.max(1024, thinking) : 4096;
}

function define(tool: ToolSpec, deferred: boolean): Definition {
  const name = JSON.stringify(tool.name);
  const description = JSON.stringify(tool.description);
  const schema = JSON.stringify(tool.inputSchema);
  const flag = deferred ? ',"defer_loading":true' : "";
  return { name: tool.name, bytes: `{"name":${name},"description":${description},"input_schema":${schema}${flag}}` };
}

function toolChange(change: "withhold" | "restore", name: string): string {
  const type = change === "withhold" ? "tool_removal" : "tool_addition";
  return `{"type":"${type}","tool":{"type":"tool_reference","name":${JSON.stringify(name)}}}`;
}

/** What of a body is of a beta. A value too many does no harm: a tool's input may look like such a message or block. */
function betas(body: string): { readonly "anthropic-beta"?: string } {
  const used = [
    ...(body.includes(SYSTEM_MESSAGE) ? [TOOL_CHANGES] : []),
    ...(body.includes('"type":"compact_20260112"') || body.includes('{"type":"compaction"') ? [COMPACTION] : []),
  ];
  return used.length === 0 ? {} : { "anthropic-beta": used.join(",") };
}

async function* stream(_model: string, body: string, deps: ProviderDeps): AsyncGenerator<ModelEvent> {
  const { BaseAnthropic, APIError } = await import("./sdk.ts");
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = deps.env;
  const client = new BaseAnthropic({
    apiKey: apiKey ?? "none",
    authToken: null,
    baseURL: baseURL ?? null,
    maxRetries: RETRIES,
    fetch: patientFetch(deps.patience),
    logLevel: "off",
  });
  const open = (signal: AbortSignal) =>
    client.post<AsyncIterable<RawMessageStreamEvent>>("/v1/messages", {
      body: new TextEncoder().encode(body),
      headers: {
        "content-type": "application/json",
        ...betas(body),
      },
      signal,
      stream: true,
    });
  yield* oneAnswer(deps.signal, open, readStream, (error) => (error instanceof APIError ? refused(error) : null));
}
