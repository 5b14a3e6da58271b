import { Gate } from "./gate.ts";
import { type Hop, redirected } from "./redirect.ts";
import { EgressError, type EgressPolicy, permitted } from "./refusal.ts";

/** What may be spent on one request, and on all of one guard. */
export interface EgressLimits {
  /** Milliseconds from the request to the last byte of its answer, redirects included. */
  readonly ms: number;
  /** Bytes of an answer's body, counted while it streams. */
  readonly bytes: number;
  /** Redirects one after the other. */
  readonly redirects: number;
  /** Requests of this guard, redirects included. Workers on the free plan have 50 for everything. */
  readonly requests: number;
  /** Requests that wait for an answer's headers at once: a Worker has six, and a turn needs two itself. Others wait. */
  readonly concurrent: number;
}

export const EGRESS_LIMITS: EgressLimits = {
  ms: 30_000,
  bytes: 10 * 1024 * 1024,
  redirects: 5,
  requests: 40,
  concurrent: 4,
};

/** As the platform's `fetch`. Throws {@link EgressError} for what is refused, and what `fetch` throws. */
export type GuardedFetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/**
 * The one way out: a `fetch` that asks only what {@link permitted} lets pass. Redirects are followed by hand, each judged
 * as the first URL was; across origins everything but harmless headers is dropped, and https never becomes http. Its
 * limits hold for all requests that are made with it, so make one for a turn. `onRequest` is told of each request, those
 * after a redirect included, and may throw to stop it.
 */
export function guardedFetch(
  policy: EgressPolicy,
  limits: Partial<EgressLimits> = {},
  onRequest: () => void = () => {},
): GuardedFetch {
  const { ms, bytes, redirects, requests, concurrent } = { ...EGRESS_LIMITS, ...limits };
  const gate = new Gate(concurrent);
  let made = 0;

  return async function guarded(input, init = {}) {
    const url = permitted(input instanceof Request ? input.url : input, policy);
    const given = new Request(input instanceof URL ? input.href : input, { ...init, signal: null });
    // Held in memory, since a redirect may want it again.
    const body = given.body === null ? null : await given.arrayBuffer();
    const hop: Hop = { url, method: given.method, headers: new Headers(given.headers), body };
    return gate.pass(() => answered(hop, init.signal ?? (input instanceof Request ? input.signal : null)));
  };

  /** The answer's headers, with a body that is still to come. */
  async function answered(first: Hop, signal: AbortSignal | null): Promise<Response> {
    let hop = first;
    const clock = new Deadline(ms, signal);
    try {
      for (let followed = 0; ; followed++) {
        if (++made > requests) throw new EgressError({ reason: "too_many_requests", most: requests });
        onRequest();
        const { url, ...rest } = hop;
        const response = await fetch(url, { ...rest, redirect: "manual", signal: clock.signal });
        const next = redirected(hop, response.status, response.headers.get("location"), policy);
        if (next === null) return limited(response, bytes, clock);
        void response.body?.cancel().catch(() => {});
        if (followed >= redirects) throw new EgressError({ reason: "too_many_redirects", most: redirects });
        hop = next;
      }
    } catch (thrown) {
      clock.stop();
      throw clock.tooSlow ? new EgressError({ reason: "too_slow", ms }) : thrown;
    }
  }
}

/** The answer with a body that fails once it is longer than `most` bytes, or when time is up. */
function limited(response: Response, most: number, clock: Deadline): Response {
  const announced = Number(response.headers.get("content-length") ?? 0);
  if (announced > most) {
    void response.body?.cancel().catch(() => {});
    throw new EgressError({ reason: "too_large", most });
  }
  if (response.body === null) {
    clock.stop();
    return response;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          clock.stop();
          return controller.close();
        }
        bytes += value.byteLength;
        if (bytes > most) throw new EgressError({ reason: "too_large", most });
        controller.enqueue(value);
      } catch (thrown) {
        clock.stop();
        void reader.cancel().catch(() => {});
        controller.error(clock.tooSlow ? new EgressError({ reason: "too_slow", ms: clock.ms }) : thrown);
      }
    },
    cancel(reason) {
      clock.stop();
      return reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** A signal that fires when time is up or when the caller's does, and says which it was. */
class Deadline {
  readonly ms: number;
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #outer: AbortSignal | null;
  readonly #leave = () => this.#controller.abort(this.#outer?.reason);
  tooSlow = false;

  constructor(ms: number, outer: AbortSignal | null) {
    this.ms = ms;
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.tooSlow = true;
      this.#controller.abort(new EgressError({ reason: "too_slow", ms }));
    }, ms);
    if (outer?.aborted) this.#leave();
    outer?.addEventListener("abort", this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#leave);
  }
}
