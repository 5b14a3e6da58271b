import type { SeenText } from "./canaries.ts";
import type { Open, RecordOf } from "./exchange.ts";

/** What an emulator's rules say of a request. */
type Examined<B, F> =
  | { readonly kind: "accepted"; readonly body: B; readonly visible: readonly string[] }
  | { readonly kind: "refused"; readonly failure: F; readonly json: unknown };

/** The record of a request that has been examined; `seen` gives the texts that are watched for canaries. */
export function recordOf<B, F extends { readonly status: number }>(
  state: { readonly requests: readonly unknown[]; watchCanaries(texts: readonly SeenText[]): string[] },
  { headers, bodyText }: Pick<RecordOf<B, F, never>, "headers" | "bodyText">,
  at: number,
  examined: Examined<B, F>,
  seen: (body: B) => readonly SeenText[],
): RecordOf<B, F, never> {
  const begun = { n: state.requests.length + 1, headers, bodyText, at, usage: null, idealCachedTokens: 0, events: 0 };
  if (examined.kind === "refused") {
    const { failure, json } = examined;
    return {
      ...begun,
      json,
      body: null,
      status: failure.status,
      error: failure,
      outcome: "failed",
      visible: [],
      flags: [],
    };
  }
  const { body, visible } = examined;
  const flags = state.watchCanaries(seen(body));
  return { ...begun, json: body, body, status: 0, error: null, outcome: "open", visible, flags };
}

/** The request is answered with that failure. */
export function refused<F extends { readonly status: number }>(
  record: Pick<Open<RecordOf<unknown, F, unknown>>, "status" | "error" | "outcome">,
  failure: F,
): void {
  record.status = failure.status;
  record.error = failure;
  record.outcome = "failed";
}
