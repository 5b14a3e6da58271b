import type { MiddlewareHandler } from "hono";
import { within } from "../turn/within.ts";
import type { HttpEnv } from "./deps.ts";

/** More than this of a refused body, or longer, nobody waits for. */
const MOST = { bytes: 64 * 1024 * 1024, ms: 2_000 } as const;

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
    // A client that has left is owed no answer, so what went wrong does not matter.
    const dropped = await within(MOST.ms, () => drop(reader));
    // workerd takes no lock from a reader that still waits, and cancelling ends its wait.
    if (!dropped.ok) void reader.cancel().catch(() => {});
    reader.releaseLock();
  };
}

async function drop(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let left = MOST.bytes; left > 0; ) {
    const { done, value } = await reader.read();
    if (done) return;
    left -= value.byteLength;
  }
}
