import { createHash, timingSafeEqual } from "node:crypto";
import { HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";
import { LOCAL } from "./open-mode.ts";

/**
 * Says who sends a request, or null when it can't tell. It sees the request before its body is read and must not read
 * it. A {@link HoldfastError} it throws is kept as the reason in case no other authenticator knows the caller.
 *
 * The ids of all authenticators share one namespace, and whoever has an id has everything stored under it. An id that
 * callers can choose, or that comes from outside, therefore needs a prefix of its authenticator's own, with a character
 * that no name in `HOLDFAST_API_KEYS` may have: `oidc:${subject}`, `access/${email}`. `local` is open mode's owner.
 */
export type Authenticator = (request: Request, env: Cloudflare.Env) => Promise<Owner | null>;

/** Fewer characters can be guessed. */
export const SECRET_LENGTH = 24;

const OWNER_NAME = /^[A-Za-z0-9._@+-]{1,64}$/;
const ROLE = /^[a-z][a-z0-9_-]{0,31}$/;

interface Key {
  readonly name: string;
  readonly role: string;
  readonly secret: string;
}

/**
 * The authenticator of `HOLDFAST_API_KEYS`: comma-separated `name:secret` or `name:secret:role`, the role `user` unless
 * given. A secret has no colon. The owner's id is the name, so two entries of one name are one owner in the middle of
 * changing keys; the name `local` is open mode's. A setting that can't be used refuses everybody: callers learn no more
 * than that, the log says why. A key is taken from `Authorization: Bearer` alone. Keys are compared by digest, all of
 * them every time.
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
    const given = digest(token);
    let match: Key | null = null;
    for (const key of keys) {
      if (timingSafeEqual(given, digest(key.secret))) match = key;
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
    const problem = keyProblem(name, secret, role, rest);
    if (problem === null) return { name, secret, role };
    throw new HoldfastError({
      reason: "internal",
      message: "This server's API keys are not set up right. Its log says what is wrong.",
      detail: `HOLDFAST_API_KEYS can't be used: in entry ${index + 1} of ${entries.length}, ${problem}.`,
    });
  });
}

/** What is wrong with an entry, or null. Tells nothing of its secret but that it is too short. */
function keyProblem(name: string, secret: string, role: string, rest: readonly string[]): string | null {
  if (!OWNER_NAME.test(name)) return "its name is not 1 to 64 of A-Z a-z 0-9 . _ @ + -";
  if (name === LOCAL.id) return `its name is ${LOCAL.id}, which is open mode's owner`;
  if (secret.length < SECRET_LENGTH) return `its secret has fewer than ${SECRET_LENGTH} characters`;
  if (rest.length > 0) return "it is not name:secret or name:secret:role (a secret has no colon)";
  if (!ROLE.test(role)) return "its role is not 1 to 32 of a-z 0-9 _ -, beginning with a letter";
  return null;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
