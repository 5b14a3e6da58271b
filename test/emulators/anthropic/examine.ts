import { visibleTools } from "./availability.ts";
import { parseBetas } from "./betas.ts";
import { bindingChain, cacheChain } from "./chain.ts";
import { type Failure, invalid } from "./failure.ts";
import type { Model } from "./models.ts";
import { type RenderedBlock, renderPrompt } from "./render.ts";
import { checkModel, checkSize, parseBody } from "./rules/body.ts";
import { checkHeaders, type HeaderExpectations } from "./rules/headers.ts";
import { firstFailure } from "./rules/index.ts";
import { checkThinking, type ThinkingSettings } from "./rules/thinking.ts";
import { firstIssue } from "./schema/first-issue.ts";
import { type AnyRequest, countRequest, messagesRequest } from "./schema/request.ts";
import { type RequestSource, sourceOf } from "./source.ts";

/** The two operations that the emulator knows. */
export type Endpoint = "messages" | "count_tokens";

export interface IncomingRequest {
  readonly endpoint: Endpoint;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
}

export interface ExamineSettings extends HeaderExpectations, ThinkingSettings {}

/** A request that the API would answer, laid out as it reads it. */
export interface AcceptedRequest {
  readonly kind: "accepted";
  readonly body: AnyRequest;
  readonly source: RequestSource;
  readonly model: Model;
  readonly rendered: readonly RenderedBlock[];
  /** `cacheChain` of `rendered`. */
  readonly chain: readonly string[];
  /** What thinking that answers this request is bound to. */
  readonly binding: string;
  readonly visible: readonly string[];
  /** The places of thinking blocks that were left out. */
  readonly droppedThinking: readonly string[];
}

export type Examined =
  | AcceptedRequest
  | { readonly kind: "refused"; readonly failure: Failure; readonly json: unknown };

/** Decides about a request as the API would: the first failure, or the request as it is understood. Pure. */
export function examine({ endpoint, headers, bodyText }: IncomingRequest, settings: ExamineSettings): Examined {
  let json: unknown = null;
  const refuse = (failure: Failure): Examined => ({ kind: "refused", failure, json });
  const early = checkHeaders(headers, settings) ?? checkSize(Buffer.byteLength(bodyText));
  if (early !== null) return refuse(early);
  const parsed = parseBody(bodyText);
  if ("failure" in parsed) return refuse(parsed.failure);
  json = parsed.json;
  const named = checkModel(json);
  if ("failure" in named) return refuse(named.failure);
  const schema = endpoint === "messages" ? messagesRequest : countRequest;
  const shaped = schema.safeParse(json);
  if (!shaped.success || named.model === undefined) {
    return refuse(invalid("E-A06", shaped.success ? "model: Field required" : firstIssue(shaped.error, json)));
  }
  const body: AnyRequest = shaped.data;
  const { model } = named;
  const input = { body, model, betas: new Set(parseBetas(headers["anthropic-beta"])) };
  const broken = firstFailure(input);
  if (broken !== null) return refuse(broken);
  const source = sourceOf(bodyText);
  const whole = renderPrompt(body, source, model);
  const thinking = checkThinking(input, whole, settings);
  if (thinking.kind === "refused") return refuse(thinking.failure);
  const dropped = new Set(thinking.dropped);
  const rendered = dropped.size === 0 ? whole : renderPrompt(body, source, model, dropped);
  const tooLong = checkWindow(rendered, model);
  if (tooLong !== null) return refuse(tooLong);
  return {
    kind: "accepted",
    body,
    source,
    model,
    rendered,
    chain: cacheChain(body, model, rendered),
    binding: bindingChain(rendered).at(-1) ?? "",
    visible: visibleTools(body),
    droppedThinking: thinking.dropped,
  };
}

/** The prompt fits the model's window. Sizes are estimates, so only gross excess is certain. */
function checkWindow(rendered: readonly RenderedBlock[], model: Model): Failure | null {
  const tokens = rendered.reduce((sum, block) => sum + block.tokens, 0);
  if (tokens <= model.window) return null;
  return invalid("E-A31", `prompt is too long: ${tokens} tokens > ${model.window} maximum`);
}
