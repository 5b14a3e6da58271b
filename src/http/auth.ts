import { HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";

/**
 * Says who sends a request, or null when it can't tell. It sees the request before its body is read and must not read
 * it. A {@link HoldfastError} it throws is kept as the reason in case no other authenticator knows the caller.
 */
export type Authenticator = (request: Request, env: Cloudflare.Env) => Promise<Owner | null>;

/** Fewer characters can be guessed. */
export const SECRET_LENGTH = 24;

const OWNER_NAME = /^[A-Za-z0-9._@+-]{1,64}$/;

interface Key {
  readonly name: string;
  readonly role: string;
  readonly secret: string;
}

/**
 * The authenticator of `HOLDFAST_API_KEYS`: comma-separated `name:secret` or `name:secret:role`, the role `user` unless
 * given. The owner's id is the name, so two entries of one name are one owner in the middle of changing keys. A key is
 * taken from `Authorization: Bearer` alone. Keys are compared by digest, all of them every time.
 */
export function apiKeys(): Authenticator {
  return async function apiKeys(request, env) {
    const keys = parseKeys(env.HOLDFAST_API_KEYS ?? "");
    if (keys.length === 0) {
      throw new HoldfastError({
        reason: "unauthorized",
        message:
          "This server has no API keys, so it refuses every request. Set HOLDFAST_API_KEYS to name:secret " +
          `(secrets of ${SECRET_LENGTH} characters or more); for development on this machine alone, set HOLDFAST_OPEN=1.`,
      });
    }
    const token = bearerToken(request);
    if (token === null) return null;
    const given = await digest(token);
    let match: Key | null = null;
    for (const key of keys) {
      if (sameBytes(given, await digest(key.secret))) match = key;
    }
    return match && { id: match.name, name: match.name, roles: [match.role] };
  };
}

/** The token of `Authorization: Bearer …`, or null. */
export function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

function parseKeys(setting: string): Key[] {
  const entries = setting
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  return entries.map((entry, index) => {
    const [name = "", secret = "", role = "user", ...rest] = entry.split(":");
    const problem = !OWNER_NAME.test(name)
      ? "its name is not 1 to 64 of A-Z a-z 0-9 . _ @ + -"
      : secret.length < SECRET_LENGTH
        ? `its secret has fewer than ${SECRET_LENGTH} characters`
        : role === "" || rest.length > 0
          ? "it is not name:secret or name:secret:role"
          : null;
    if (problem === null) return { name, secret, role };
    throw new HoldfastError({
      reason: "internal",
      message: `HOLDFAST_API_KEYS can't be used: in entry ${index + 1} of ${entries.length}, ${problem}.`,
    });
  });
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Takes the same time wherever the first difference is. Both are SHA-256 digests, so the lengths agree. */
function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 256);
  return difference === 0;
}
