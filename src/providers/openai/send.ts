import { brokeOff } from "../broke-off.ts";
import { type ModelEvent, type ProviderDeps, RETRIES } from "../contract.ts";
import { IDLE_MS, withIdleLimit } from "../idle-limit.ts";
import { patientFetch } from "../patient-fetch.ts";
import { refused } from "./errors.ts";

/** A request to an endpoint of OpenAI's kind. */
export interface Sent {
  readonly apiKey: string | undefined;
  /** Null or empty: OpenAI's own. */
  readonly baseURL: string | undefined;
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly deps: ProviderDeps;
}

/**
 * Sends our own bytes by the official SDK, and yields what `read` makes of the answer's events. Throws
 * {@link HoldfastError} with reason `provider` for every refusal, overload and broken connection.
 */
export async function* send<E>(
  { apiKey, baseURL, path, body, headers, deps }: Sent,
  read: (events: AsyncIterable<E>) => AsyncGenerator<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  const { OpenAI, APIError } = await import("./sdk.ts");
  const client = new OpenAI({
    apiKey: apiKey || "none",
    baseURL: baseURL || null,
    organization: null,
    project: null,
    maxRetries: RETRIES,
    fetch: patientFetch(deps.patience),
    logLevel: "off",
  });
  const request = new AbortController();
  let begun = false;
  try {
    const events = await client.post<AsyncIterable<E>>(path, {
      body: new TextEncoder().encode(body),
      headers: { ...headers, "content-type": "application/json" },
      signal: AbortSignal.any([deps.signal, request.signal]),
      stream: true,
    });
    for await (const event of read(withIdleLimit(events, IDLE_MS))) {
      begun = true;
      yield event;
    }
  } catch (error) {
    if (error instanceof APIError) throw refused(error);
    if (begun && error instanceof Error && error.name !== "HoldfastError") throw brokeOff(error.name);
    throw error;
  } finally {
    // A body that nobody reads on holds its connection: the SDK can't let go of one that is silent.
    request.abort();
  }
}
