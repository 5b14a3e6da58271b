import type { SessionObject } from "./session/object.ts";

/** Bindings and settings of design §4.2. A user's own bindings merge into the same interface. */
declare global {
  namespace Cloudflare {
    interface Env {
      SESSIONS: DurableObjectNamespace<SessionObject>;
      DB: D1Database;
      RATE_LIMITER?: RateLimit;
      ANTHROPIC_API_KEY?: string;
      ANTHROPIC_BASE_URL?: string;
      OPENAI_API_KEY?: string;
      OPENAI_BASE_URL?: string;
      HOLDFAST_MODEL?: string;
      HOLDFAST_API_KEYS?: string;
      HOLDFAST_OPEN?: string;
      HOLDFAST_ORIGINS?: string;
      HOLDFAST_ALLOW_LOOPBACK?: string;
      HOLDFAST_LEASE_SECONDS?: string;
      HOLDFAST_SECRET?: string;
    }
  }
}
