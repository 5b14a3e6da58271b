import { type ModelEvent, type ProviderDeps, RETRIES } from "../contract.ts";
import { oneAnswer } from "../one-answer.ts";
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
  const open = (signal: AbortSignal) =>
    client.post<AsyncIterable<E>>(path, {
      body: new TextEncoder().encode(body),
      headers: { ...headers, "content-type": "application/json" },
      signal,
      stream: true,
    });
  yield* oneAnswer(deps.signal, open, read, (error) => (error instanceof APIError ? refused(error) : null));
}
