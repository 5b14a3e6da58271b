import { createHash } from "node:crypto";
import type { Once } from "../session/contract.ts";
import { badRequest } from "./bad-request.ts";

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * How a repeat of a request is known (design §3.6): by the client's `Idempotency-Key`, which counts for one owner and
 * path; or because an SDK of the Stainless kind (OpenAI's, Anthropic's) says that it sends the same body again. Throws
 * `bad_request` for a key that is none.
 */
export function readOnce(request: Request, body: unknown): Once {
  const { pathname } = new URL(request.url);
  const key = request.headers.get("idempotency-key");
  if (key !== null && !KEY.test(key)) throw badRequest("Idempotency-Key", "a key is 1 to 255 visible characters");
  return {
    key: key === null ? null : hash(pathname, key),
    body: hash(pathname, JSON.stringify(body)),
    repeated: Number(request.headers.get("x-stainless-retry-count") ?? 0) > 0,
  };
}

function hash(path: string, text: string): string {
  return createHash("sha256").update(`${path}\n${text}`).digest("hex");
}
