import type { AgentCard } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import type { ToolContext } from "../../define/types.ts";
import { type GuardedFetch, guardedFetch } from "../../egress/guarded-fetch.ts";
import { egressPolicy } from "../../egress/refusal.ts";

/** The agent at the other end. */
export interface Remote {
  readonly url: string;
  readonly name: string;
  readonly auth: string | ((context: { env: Cloudflare.Env }) => string) | null;
  /** Its card, once it was read. */
  card?: AgentCard;
}

/** One answer and the requests around it. A stream that is cut by the time is gone on with. */
const LIMITS = { ms: 60_000, bytes: 10 * 1024 * 1024, requests: 30, redirects: 3 };

/**
 * A client of the agent, in whatever version and binding its card offers. All its requests go through the guard; the key
 * goes to the card's own endpoints alone, which must be where the agent's URL is.
 */
export async function connect(remote: Remote, { env }: ToolContext): Promise<Client> {
  const fetch = guardedFetch(egressPolicy(env, null), LIMITS);
  const legacyCompat = { enabled: true };
  remote.card ??= await new DefaultAgentCardResolver({ fetchImpl: fetch, legacyCompat }).resolve(`${remote.url}/`);
  const fetchImpl = withKey(fetch, remote, env);
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    new RestTransportFactory({ fetchImpl, legacyCompat }),
  ];
  return new ClientFactory({ transports }).createFromAgentCard(remote.card);
}

function withKey(fetch: GuardedFetch, { url, auth }: Remote, env: Cloudflare.Env): GuardedFetch {
  if (auth === null) return fetch;
  const key = typeof auth === "string" ? auth : auth({ env });
  const { origin } = new URL(url);
  return (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== origin) throw new Error(`The agent's card names ${asked.origin}, which its key is not for.`);
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
}
