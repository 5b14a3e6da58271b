import { bareName, isInternal, isLoopback } from "./address.ts";

/** Who may be asked. */
export interface EgressPolicy {
  /** `HOLDFAST_ALLOW_LOOPBACK`: this machine may be asked, for development. */
  readonly allowLoopback: boolean;
  /** The host (with its port) that this worker answers under; null where no request told it. */
  readonly ownHost: string | null;
}

/** Why something is not sent, or not received to its end. */
export type Refusal =
  | { readonly reason: "not_a_url" }
  | { readonly reason: "not_http"; readonly protocol: string }
  | { readonly reason: "credentials_in_url" }
  | { readonly reason: "internal_address"; readonly host: string }
  | { readonly reason: "own_host"; readonly host: string }
  | { readonly reason: "downgrade"; readonly host: string }
  | { readonly reason: "too_many_redirects"; readonly most: number }
  | { readonly reason: "too_many_requests"; readonly most: number }
  | { readonly reason: "too_large"; readonly most: number }
  | { readonly reason: "too_slow"; readonly ms: number };

/** Something that was to go out was refused. The message is for the caller and for models: it names no secret. */
export class EgressError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusalText(refusal));
    this.name = "EgressError";
    this.refusal = refusal;
  }
}

/**
 * The URL if it may be asked; throws {@link EgressError} where it may not. It judges the text alone: a Worker can neither
 * look a name up nor pin what it resolves to, so a public name that points to an internal address passes here, and it is
 * the platform's network that has to keep it out.
 */
export function permitted(url: string | URL, policy: EgressPolicy): URL {
  const parsed = URL.parse(url);
  if (parsed === null) throw new EgressError({ reason: "not_a_url" });
  const refusal = refusalOf(parsed, policy);
  if (refusal !== null) throw new EgressError(refusal);
  return parsed;
}

function refusalOf(url: URL, { allowLoopback, ownHost }: EgressPolicy): Refusal | null {
  const { protocol, hostname, host } = url;
  if (protocol !== "https:" && protocol !== "http:") return { reason: "not_http", protocol };
  if (url.username !== "" || url.password !== "") return { reason: "credentials_in_url" };
  if (ownHost !== null && isOwn(url, ownHost)) return { reason: "own_host", host };
  if (allowLoopback && isLoopback(hostname)) return null;
  return isInternal(hostname) ? { reason: "internal_address", host } : null;
}

/** On this machine another port is another server; elsewhere it may well be this one again. */
function isOwn(url: URL, ownHost: string): boolean {
  const own = URL.parse(`${url.protocol}//${ownHost}`);
  if (own === null) return false;
  if (isLoopback(own.hostname)) return isLoopback(url.hostname) && url.port === own.port;
  return bareName(url.hostname) === bareName(own.hostname);
}

/** What is told of a refusal. */
function refusalText(refusal: Refusal): string {
  switch (refusal.reason) {
    case "not_a_url":
      return "That is not an absolute URL.";
    case "not_http":
      return `Only http and https URLs can be asked, not ${refusal.protocol}`;
    case "credentials_in_url":
      return "A URL may not carry a user name or a password.";
    case "internal_address":
      return `${refusal.host} is an internal address, which is not asked.`;
    case "own_host":
      return `${refusal.host} is this server itself, which is not asked.`;
    case "downgrade":
      return `A redirect from https to http (${refusal.host}) is not followed.`;
    case "too_many_redirects":
      return `More than ${refusal.most} redirects.`;
    case "too_many_requests":
      return `More than ${refusal.most} requests were made to the outside in this turn.`;
    case "too_large":
      return `The answer is larger than ${refusal.most} bytes.`;
    case "too_slow":
      return `No whole answer within ${refusal.ms} ms.`;
  }
}

/** The policy that the worker's settings make; `ownHost` is the host of the request that is served. */
export function egressPolicy(
  env: Pick<Cloudflare.Env, "HOLDFAST_ALLOW_LOOPBACK">,
  ownHost: string | null,
): EgressPolicy {
  return { allowLoopback: !["", "0", "false"].includes(env.HOLDFAST_ALLOW_LOOPBACK ?? ""), ownHost };
}
