import type { SessionRow } from "./store.ts";

/** When a session that stays idle is to be deleted (milliseconds since the epoch); null where it is kept. */
export function expiry({ updated_at, keep_ms }: Pick<SessionRow, "updated_at" | "keep_ms">): number | null {
  return keep_ms === null ? null : updated_at + keep_ms;
}
