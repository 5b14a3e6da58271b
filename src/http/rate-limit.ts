import type { MiddlewareHandler } from "hono";
import { HoldfastError } from "../values/errors.ts";
import type { HttpEnv } from "./deps.ts";
import type { Log } from "./log.ts";

/** The binding does not tell when it lets the next one through; its periods are 10 and 60 seconds. */
const RETRY_SECONDS = 10;

/**
 * Asks the platform's rate limit, where `RATE_LIMITER` is bound, about each request of an owner. One that can't be asked
 * lets everybody through.
 */
export function rateLimit(log: Log): MiddlewareHandler<HttpEnv> {
  return async function rateLimit(c, next) {
    const limiter = c.env.RATE_LIMITER;
    if (limiter !== undefined && !(await lets(limiter, c.var.owner.id))) {
      const message = "Too many requests. Wait a little.";
      throw new HoldfastError({ reason: "quota", quota: "requests", retryAfter: RETRY_SECONDS, message });
    }
    await next();
  };

  async function lets(limiter: RateLimit, key: string): Promise<boolean> {
    try {
      return (await limiter.limit({ key })).success;
    } catch (error) {
      log("rate limit not asked", { level: "warn", why: error instanceof Error ? error.message : String(error) });
      return true;
    }
  }
}
