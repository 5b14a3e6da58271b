import { type Callable, callables, type NamespaceBehaviour, visibleTools } from "./availability.ts";
import { itemsOf } from "./content.ts";
import { type Failure, invalid } from "./failure.ts";
import { findModel, type Model } from "./models.ts";
import { type Preamble, type RenderedBlock, renderPrompt } from "./render.ts";
import { noSuchModel, parseBody } from "./rules/body.ts";
import { checkHeaders } from "./rules/headers.ts";
import { firstFailure } from "./rules/index.ts";
import type { Endpoint, RuleSettings } from "./rules/rule.ts";
import { firstIssue } from "./schema/first-issue.ts";
import type { Item } from "./schema/items.ts";
import { type AnyRequest, compactRequest, countRequest, responsesRequest, withTypes } from "./schema/request.ts";
import { type RequestSource, sourceOf } from "./source.ts";

export interface IncomingRequest {
  readonly endpoint: Endpoint;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
}

export interface ExamineSettings extends RuleSettings {
  /** The only key that is accepted; any if absent. */
  readonly apiKey?: string | undefined;
  readonly namespaces: NamespaceBehaviour;
  readonly preamble: Preamble;
  /** The bytes of a stored response's items. */
  storedSource(responseId: string): readonly string[];
}

/** A request that the API would answer, laid out as it reads it. */
export interface AcceptedRequest {
  readonly kind: "accepted";
  readonly body: AnyRequest;
  readonly source: RequestSource;
  readonly model: Model;
  /** All items that the model sees, those of a stored response first. */
  readonly items: readonly Item[];
  readonly rendered: readonly RenderedBlock[];
  /** The functions that the model can call, by name. */
  readonly functions: ReadonlyMap<string, Callable>;
  /** The names of what the model can call, the client's search included. */
  readonly visible: readonly string[];
}

export type Examined =
  | AcceptedRequest
  | { readonly kind: "refused"; readonly failure: Failure; readonly json: unknown };

const SCHEMAS = { responses: responsesRequest, compact: compactRequest, input_tokens: countRequest };

/** Decides about a request as the API would: the first failure, or the request as it is understood. Pure. */
export function examine({ endpoint, headers, bodyText }: IncomingRequest, settings: ExamineSettings): Examined {
  let json: unknown = null;
  const refuse = (failure: Failure): Examined => ({ kind: "refused", failure, json });
  const early = checkHeaders(headers, settings.apiKey);
  if (early !== null) return refuse(early);
  const parsed = parseBody(bodyText);
  if ("failure" in parsed) return refuse(parsed.failure);
  json = parsed.json;
  const typed = withTypes(json);
  const shaped = SCHEMAS[endpoint].safeParse(typed);
  if (!shaped.success) return refuse(firstIssue(shaped.error, typed));
  const body: AnyRequest = shaped.data;
  const model = findModel(body.model);
  if (model === undefined) return refuse(noSuchModel(body.model));
  const previous = body.previous_response_id;
  const elsewhere = Boolean(body.conversation) || (Boolean(previous) && settings.stored(previous ?? "") === undefined);
  const earlier = elsewhere ? null : previous ? (settings.stored(previous) ?? []) : [];
  const own = itemsOf(body).map((item) => {
    return item.type === "item_reference" ? (settings.storedItem(item.id) ?? item) : item;
  });
  const broken = firstFailure({ endpoint, body, items: own, earlier, model, settings });
  if (broken !== null) return refuse(broken);
  const source = sourceOf(bodyText);
  const rendered = renderPrompt(
    body,
    source,
    previous ? settings.storedSource(previous) : [],
    model,
    settings.preamble,
  );
  const tooLong = checkWindow(rendered, model);
  if (tooLong !== null) return refuse(tooLong);
  const items = [...(earlier ?? []), ...own];
  const { functions } = callables(body, items, model, settings.namespaces);
  const visible = visibleTools(body, items, model, settings.namespaces);
  return { kind: "accepted", body, source, model, items, rendered, functions, visible };
}

/** The prompt fits the model's window. Sizes are estimates, so only gross excess is certain. */
function checkWindow(rendered: readonly RenderedBlock[], model: Model): Failure | null {
  if (rendered.reduce((sum, block) => sum + block.tokens, 0) <= model.window) return null;
  const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
  return invalid("E-O02", message, "input", "context_length_exceeded");
}
