import { isLoopback as isLoopbackHost } from "../egress/address.ts";
import { HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";

/** Whom every caller without a known key is in open mode. The id is reserved: no key may have this name. */
export const LOCAL: Owner = Object.freeze({ id: "local", name: "local", roles: Object.freeze(["user"]) });

/** Whether `HOLDFAST_OPEN` is set: no key is needed, from this machine. */
export function isOpen(env: Pick<Cloudflare.Env, "HOLDFAST_OPEN">): boolean {
  return !["", "0", "false"].includes(env.HOLDFAST_OPEN ?? "");
}

/**
 * The owner of a request without a key in open mode. Throws `forbidden` unless the Host is loopback, and the Origin
 * loopback or absent: a web page the developer happens to visit could otherwise drive the agent, by a plain request or
 * by a name of its own that it lets point to 127.0.0.1 (DNS rebinding).
 */
export function openOwner(request: Request): Owner {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  if (!isLoopback(`http://${host}`)) throw refused("Host", host);
  const origin = request.headers.get("origin");
  if (origin !== null && !isLoopback(origin)) throw refused("Origin", origin);
  return LOCAL;
}

/** Whether an origin's host is this machine itself. */
export function isLoopback(origin: string): boolean {
  return isLoopbackHost(URL.parse(origin)?.hostname ?? "");
}

function refused(header: string, value: string): HoldfastError {
  return new HoldfastError({
    reason: "forbidden",
    message:
      `This server runs in open mode (HOLDFAST_OPEN), which answers this machine only, and ${header} ` +
      `${JSON.stringify(value)} is not loopback. Use http://localhost, or an API key of HOLDFAST_API_KEYS.`,
  });
}
