import { EgressError, type EgressPolicy, permitted } from "./refusal.ts";

/** Headers that may follow a redirect to another origin. Anything else may be a secret of the first one. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["accept", "accept-encoding", "accept-language", "content-language", "content-type", "user-agent"],
  ...["a2a-version", "a2a-extensions"],
]);

/** Describe a body that is not sent any more. */
const OF_A_BODY = ["content-encoding", "content-language", "content-length", "content-type"];

/** A request as far as a redirect changes it. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | null;
}

/**
 * The request that an answer wants instead of `hop`, judged as the first one was; null for an answer that is no redirect.
 * Method and body change as the Fetch standard has it (HTTP-redirect fetch, step 12).
 */
export function redirected(hop: Hop, status: number, location: string | null, policy: EgressPolicy): Hop | null {
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return null;
  const url = permitted(URL.parse(location, hop.url) ?? location, policy);
  if (hop.url.protocol === "https:" && url.protocol === "http:") {
    throw new EgressError({ reason: "downgrade", host: url.host });
  }
  const get = becomesGet(status, hop.method);
  const kept = [...hop.headers].filter(([name]) => {
    if (get && OF_A_BODY.includes(name)) return false;
    return url.origin === hop.url.origin || HARMLESS.has(name);
  });
  return {
    url,
    headers: new Headers(kept),
    ...(get ? { method: "GET", body: null } : { method: hop.method, body: hop.body }),
  };
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}
