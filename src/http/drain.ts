import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "./deps.ts";

/** More than this of a refused body nobody waits for. */
const MOST = 64 * 1024 * 1024;

/**
 * Reads on what a refused request still sends, and drops it. A connection that closes while the client writes to it is
 * a broken connection to the client: it would never see why it was refused. Who is not known is not waited for: this
 * comes after authentication.
 */
export function drainRefused(): MiddlewareHandler<HttpEnv> {
  return async function drainRefused(c, next) {
    await next();
    const { body } = c.req.raw;
    if (c.res.status < 400 || body === null || body.locked) return;
    const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
    try {
      for (let left = MOST; left > 0; ) {
        const { done, value } = await reader.read();
        if (done) return;
        left -= value.byteLength;
      }
    } catch {
      // The client has left, so nobody is owed an answer.
    }
  };
}
