import { parseEnd } from "./append.ts";
import type { Once } from "./contract.ts";
import type { KeyRow, SessionRow } from "./store.ts";

/** How long an `Idempotency-Key` is remembered. */
export const KEY_MS = 24 * 60 * 60 * 1000;

/** An SDK gives up its retries long before; the same body later is another message. */
export const RETRY_MS = 10 * 60 * 1000;

/** How a request stands to those before it. */
export type Repeat =
  | { readonly kind: "new" }
  /** It asks again for that turn. */
  | { readonly kind: "joins"; readonly turn: string }
  /** Its key stands for another request. */
  | { readonly kind: "key_reused" };

/**
 * Whether a request is a repeat (design §3.6): by its key within 24 hours; or because its SDK says so and the newest
 * turn came with the same body less than 10 minutes ago. A turn that failed is not joined, nor one that was stopped because
 * its client was gone: asked again, it runs again.
 * `dead`: the newest turn's isolate is gone, so there is nothing to join but a turn to go on with.
 */
export function repeatOf(
  once: Once | undefined,
  row: Pick<SessionRow, "turn" | "status" | "ended" | "body" | "began_at">,
  key: KeyRow | null,
  dead: boolean,
  now: number,
): Repeat {
  if (once === undefined) return { kind: "new" };
  const joinable = isJoinable(row, dead);
  if (key !== null && now - key.at < KEY_MS) {
    if (key.body !== once.body) return { kind: "key_reused" };
    return key.turn !== row.turn || joinable ? { kind: "joins", turn: key.turn } : { kind: "new" };
  }
  const again = once.repeated && once.body === row.body && now - row.began_at < RETRY_MS;
  return again && joinable ? { kind: "joins", turn: row.turn } : { kind: "new" };
}

function isJoinable({ status, ended }: Pick<SessionRow, "status" | "ended">, dead: boolean): boolean {
  switch (status) {
    case "running":
      return !dead;
    case "stopped":
      return parseEnd(ended).left !== true;
    case "failed":
    case "refused":
      return false;
    case "done":
    case "paused":
      return true;
  }
}
