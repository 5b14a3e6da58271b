import type { MiddlewareHandler } from "hono";
import { type Failure, failureOf, HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";
import { type Authenticator, bearerToken } from "./auth.ts";
import type { HttpEnv } from "./deps.ts";
import { isOpen, openOwner } from "./open-mode.ts";

/** Puts the caller into the context as `owner`, or refuses before anything of the body is read. */
export function authenticate(authenticators: readonly Authenticator[]): MiddlewareHandler<HttpEnv> {
  return async function authenticate(c, next) {
    c.set("owner", await ownerOf(c.req.raw, c.env, authenticators));
    await next();
  };
}

/**
 * The first owner that an authenticator finds; in open mode otherwise the local one. A known key counts in open mode
 * too, and one that is not known does no harm there, since OpenAI clients always send some key.
 */
async function ownerOf(
  request: Request,
  env: Cloudflare.Env,
  authenticators: readonly Authenticator[],
): Promise<Owner> {
  let why: Failure = {
    reason: "unauthorized",
    message:
      bearerToken(request) === null
        ? "An API key is missing. Send it as `Authorization: Bearer <key>`."
        : "This API key is not known here.",
  };
  for (const authenticator of authenticators) {
    try {
      const owner = await authenticator(request, env);
      if (owner !== null) return owner;
    } catch (thrown) {
      const failure = failureOf(thrown);
      // A setting that can't be used must be seen, whoever else might know the caller.
      if (failure.reason !== "unauthorized") throw thrown;
      why = failure;
    }
  }
  if (isOpen(env)) return openOwner(request);
  throw new HoldfastError(why);
}
