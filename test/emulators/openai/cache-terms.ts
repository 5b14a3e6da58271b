import type { CacheTerms } from "./cache.ts";
import type { Model } from "./models.ts";
import type { AnyRequest } from "./schema/request.ts";

const MINUTE = 60_000;

/** A request's place in the cache. The cache is separate for the model and for what changes how it answers. */
export function cacheTerms(body: AnyRequest, model: Model): CacheTerms {
  const { text, reasoning, parallel_tool_calls, context_management, prompt_cache_options: options } = body;
  const scope = JSON.stringify([
    model.id,
    text?.format ?? null,
    text?.verbosity ?? null,
    reasoning?.effort ?? null,
    parallel_tool_calls ?? true,
    context_management ?? null,
  ]);
  return {
    cache: model.cache,
    scope,
    key: body.prompt_cache_key ?? "",
    ttl: lifetime(body, model),
    explicitOnly: options?.mode === "explicit",
  };
}

function lifetime({ prompt_cache_options: options, prompt_cache_retention }: AnyRequest, { cache }: Model): number {
  if (cache.kind === "boundaries") return options?.ttl === "12h" ? 720 * MINUTE : 30 * MINUTE;
  return prompt_cache_retention === "24h" || cache.step > 128 ? 1440 * MINUTE : 5 * MINUTE;
}
