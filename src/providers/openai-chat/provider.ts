import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { DefinitionError } from "../../define/definition-error.ts";
import { isCount, unknownOptions, unknownOptionsProblem } from "../../define/options.ts";
import type { EpochSettings } from "../../values/settings.ts";
import { SEARCH_TOOL, type ToolSpec } from "../../values/tool.ts";
import type { Definition, ModelEvent, ModelFacts, Provider, ProviderDeps } from "../contract.ts";
import { send } from "../openai/send.ts";
import { writeBody } from "./body.ts";
import { unbridged } from "./bridge.ts";
import { BRIDGE } from "./form.ts";
import { renderItems, systemMessage } from "./render.ts";
import { readStream } from "./stream.ts";

/** A value, or a function of the worker's bindings, asked at each request. */
export type Setting<T> = T | ((context: { readonly env: Cloudflare.Env }) => T);

/** An endpoint that speaks Chat Completions. */
export interface OpenAICompatibleOptions {
  /** Up to `/chat/completions`, as in `https://api.example.com/v1`. */
  readonly baseURL: Setting<string | undefined>;
  readonly apiKey?: Setting<string | undefined>;
  /** Further headers of each request. */
  readonly headers?: Setting<Readonly<Record<string, string>>>;
  /**
   * `bridge`: tools that join later are described in the conversation and called through one function, so that the
   * prefix stays as it is. Without it they are added to the request's tools, which breaks the prefix (`late_inline`).
   */
  readonly deferral?: "bridge";
  /** The model's context window in tokens; default 128 000. */
  readonly window?: number;
  /** The most tokens of one answer; default 16 000. */
  readonly maxOutputTokens?: number;
}

const OPTIONS = ["baseURL", "apiKey", "headers", "deferral", "window", "maxOutputTokens"];

/**
 * A provider for `holdfast({ providers: { acme: openaiCompatible({ … }) } })`, which adds the model names `acme/…`. Throws
 * {@link DefinitionError} when it can't work as it is defined.
 */
export function openaiCompatible(options: OpenAICompatibleOptions): Provider {
  const problem = problemOf(options);
  if (problem !== null) throw new DefinitionError(`openaiCompatible(): ${problem}`, {});
  const { baseURL, apiKey, headers = {}, window = 128_000, maxOutputTokens: maxOutput = 16_000 } = options;
  const bridge = options.deferral === "bridge";
  const facts: ModelFacts = {
    ...{ deferral: bridge, deferralBySearch: true, toolChanges: false, bound: false, dropsThinking: false },
    ...{ minCache: 1024, window, maxOutput, refuses: new Set<never>(), thinking: "none" },
  };
  return {
    name: "openai-compatible",
    wire: "openai-chat/1",
    facts: () => facts,
    missing: (env) => (settingOf(baseURL, env) ? null : "the base URL of its provider is not set for this worker."),
    settings,
    withoutCalls: (frozen) => `${frozen},"tool_choice":"none"`,
    system: (text) => (text.trim() === "" ? [] : [systemMessage(text)]),
    define: (tool, deferred) => define(tool, deferred, bridge),
    schema,
    items: renderItems,
    body: writeBody,
    stream(_model: string, body: string, deps: ProviderDeps): AsyncIterable<ModelEvent> {
      const { env } = deps;
      const to = { baseURL: settingOf(baseURL, env), apiKey: settingOf(apiKey, env), headers: settingOf(headers, env) };
      const read = (chunks: AsyncIterable<ChatCompletionChunk>) =>
        readStream(chunks, body, bridge ? unbridged : (call) => call);
      return send<ChatCompletionChunk>({ ...to, path: "/chat/completions", body, deps }, read);
    },
  };
}

function problemOf(options: OpenAICompatibleOptions): string | null {
  const unknown = unknownOptions(options, OPTIONS);
  if (unknown.length > 0) return unknownOptionsProblem("it", unknown, OPTIONS);
  const { baseURL, deferral, window, maxOutputTokens } = options;
  if (typeof baseURL !== "function" && !URL.canParse(baseURL ?? "")) return "baseURL must be a URL or a function";
  if (deferral !== undefined && deferral !== "bridge") return 'deferral must be "bridge" or left out';
  if (window !== undefined && !isCount(window, 1)) return "window must be a whole number above 0";
  if (maxOutputTokens !== undefined && !isCount(maxOutputTokens, 1)) {
    return "maxOutputTokens must be a whole number above 0";
  }
  return null;
}

function settingOf<T extends string | undefined | Readonly<Record<string, string>>>(
  setting: Setting<T> | undefined,
  env: Cloudflare.Env,
): T | undefined {
  return typeof setting === "function" ? setting({ env }) : setting;
}

function schema({ bytes }: Definition): Readonly<Record<string, unknown>> {
  const definition = JSON.parse(bytes);
  return (definition.function ?? definition).parameters;
}

function settings(model: string, { effort, parallelCalls }: EpochSettings): string {
  const fields = [`"model":${JSON.stringify(model)}`];
  if (effort !== undefined) fields.push(`"reasoning_effort":"${effort}"`);
  if (parallelCalls === false) fields.push('"parallel_tool_calls":false');
  return fields.join(",");
}

/** A function; one that is deferred as the line that describes it in a search's result. The search brings its bridge. */
function define(
  { name, description, inputSchema: parameters }: ToolSpec,
  deferred: boolean,
  bridge: boolean,
): Definition {
  const described = JSON.stringify({ name, description, parameters });
  if (deferred) return { name, bytes: described };
  const own = `{"type":"function","function":${described}}`;
  return { name, bytes: bridge && name === SEARCH_TOOL ? `${own},${BRIDGE}` : own };
}
