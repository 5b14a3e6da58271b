import type { AppendRequest } from "../session/contract.ts";
import type { HeldTurn } from "./held-turn.ts";
import { saving } from "./journal.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { mustShorten, shorten } from "./shorten.ts";

/** A request that can go out. `saved`: the session has its bytes already; otherwise they are saved with its answer. */
export interface Ready {
  readonly prepared: Prepared;
  readonly saved: boolean;
}

/**
 * A turn's first request, or one that results did not already save. What it changed is saved before it goes out; if
 * nothing did, its bytes wait for its answer. A compaction comes before anything is derived from the context.
 */
export async function prepareFirst(turn: HeldTurn): Promise<Ready> {
  const due = mustShorten(turn);
  if (due) turn.keepsLong = !(await shorten(turn, "threshold", turn.conversation));
  const prepared = await prepare(turn.setup, turn.conversation);
  const { unsaved } = turn.conversation;
  const saved = due || turn.reread || prepared.changed || prepared.opening !== null || unsaved.length > 0;
  turn.reread = false;
  if (saved) await turn.save("before", saving(prepared, turn.conversation));
  return { prepared, saved };
}

/** A request that is saved with what was done before it, whatever it changes. */
export async function prepareNext(
  turn: HeldTurn,
  kind: "before" | "results",
  fields: Partial<AppendRequest> = {},
): Promise<Ready> {
  const prepared = await prepare(turn.setup, turn.conversation);
  await turn.save(kind, { ...fields, ...saving(prepared, turn.conversation) });
  return { prepared, saved: true };
}
