import type { CacheTerms } from "../openai/cache.ts";
import type { Failure } from "../openai/failure.ts";
import { findModel } from "../openai/models.ts";
import type { RenderedBlock } from "../openai/render.ts";
import { noSuchModel, parseBody } from "../openai/rules/body.ts";
import { checkHeaders } from "../openai/rules/headers.ts";
import { firstIssue } from "../openai/schema/first-issue.ts";
import { type ChatRequest, chatRequest } from "./request.ts";
import { firstFailure, type RuleSettings } from "./rules.ts";
import { sourceOf } from "./source.ts";

export interface IncomingRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
}

export interface ExamineSettings extends RuleSettings {
  /** The only key that is accepted; any if absent. */
  readonly apiKey?: string | undefined;
  /** The models that exist; any if absent. */
  readonly models?: readonly string[] | undefined;
}

/** A request that the API would answer, laid out as it reads it. */
export interface AcceptedRequest {
  readonly kind: "accepted";
  readonly body: ChatRequest;
  readonly rendered: readonly RenderedBlock[];
  readonly terms: CacheTerms;
  /** The names of what the model can call. */
  readonly visible: readonly string[];
}

export type Examined =
  | AcceptedRequest
  | { readonly kind: "refused"; readonly failure: Failure; readonly json: unknown };

/** Decides about a request as the API would: the first failure, or the request as it is understood. Pure. */
export function examine({ headers, bodyText }: IncomingRequest, settings: ExamineSettings): Examined {
  let json: unknown = null;
  const refuse = (failure: Failure, rule = failure.rule): Examined => {
    return { kind: "refused", failure: { ...failure, rule }, json };
  };
  const early = checkHeaders(headers, settings.apiKey);
  if (early !== null) return refuse(early, "E-C01");
  const parsed = parseBody(bodyText);
  if ("failure" in parsed) return refuse(parsed.failure, "E-C02");
  json = parsed.json;
  const shaped = chatRequest.safeParse(json);
  if (!shaped.success) return refuse(firstIssue(shaped.error, json), "E-C02");
  const body = shaped.data;
  if (settings.models !== undefined && !settings.models.includes(body.model)) {
    return refuse(noSuchModel(body.model), "E-C03");
  }
  const broken = firstFailure(body, settings);
  if (broken !== null) return refuse(broken);
  return { kind: "accepted", body, rendered: render(bodyText), terms: termsOf(body), visible: visibleTools(body) };
}

/** The prompt: tools, then messages. */
function render(bodyText: string): RenderedBlock[] {
  const { tools, messages } = sourceOf(bodyText);
  const block = (path: string, bytes: string) => {
    return { path, bytes, tokens: Math.ceil(Buffer.byteLength(bytes) / 4), explicit: false, ending: false };
  };
  return [
    ...tools.map((bytes, index) => block(`tools[${index}]`, bytes)),
    ...messages.map((bytes, index) => block(`messages[${index}]`, bytes)),
  ];
}

/** Cached as older models of OpenAI do: implicitly, in steps of 128 tokens. */
function termsOf(body: ChatRequest): CacheTerms {
  const { model, response_format, reasoning_effort, verbosity, parallel_tool_calls, prompt_cache_key } = body;
  return {
    cache: { kind: "steps", step: 128 },
    scope: JSON.stringify([
      findModel(model)?.id ?? model,
      response_format ?? null,
      reasoning_effort ?? null,
      verbosity ?? null,
      parallel_tool_calls ?? true,
    ]),
    key: prompt_cache_key ?? "",
    ttl: body.prompt_cache_retention === "24h" ? 86_400_000 : 300_000,
    explicitOnly: false,
  };
}

function visibleTools({ tools = [], tool_choice: choice = "auto" }: ChatRequest): string[] {
  const names = tools.map((tool) => tool.function.name);
  if (choice === "none") return [];
  if (typeof choice === "string") return names;
  const allowed = choice.type === "function" ? [choice] : choice.allowed_tools.tools;
  return names.filter((name) => allowed.some((one) => one.function.name === name));
}
