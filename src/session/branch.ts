import { entriesBefore, finishedEntries, survives, userMessages } from "../context/branch.ts";
import { effectiveContext, toldEntries } from "../context/effective.ts";
import { decodeEntry, type Entry, type Numbered } from "../values/entry.ts";
import { ToolDeferrals } from "../values/tool-deferrals.ts";
import { type BranchChain, branchChains } from "./branch-chain.ts";
import type { BlobRow, EntryRow } from "./contract.ts";
import { History, newCuts } from "./history.ts";
import { sessionName } from "./name.ts";
import { blobsOf } from "./read.ts";
import type { SessionRow, Store } from "./store.ts";

/** A session that goes on by itself: what a clone, a fork or an import begins with, as the one it comes from stood. */
export interface Branch {
  readonly v: 1;
  readonly agent: string;
  readonly title: string;
  readonly mode: string;
  /** Where it comes from; null for one that was brought in. `at`: the user message it was forked before; null for a clone. */
  readonly from: { readonly conversation: string; readonly at: number | null } | null;
  /** As in `SessionRow`. */
  readonly keepMs: number | null;
  /** How the newest turn of what was taken stands: as in `SessionRow`. */
  readonly newest: Pick<SessionRow, "status" | "turn" | "user_seq" | "refused_from">;
  readonly wire: string;
  readonly sentThrough: number;
  readonly lastSeq: number;
  readonly cuts: string;
  /** JSON of the deferrals; null is no baseline. */
  readonly deferrals: string | null;
  readonly entries: readonly EntryRow[];
  readonly texts: readonly { readonly name: (typeof FROZEN)[number]; readonly text: string }[];
  readonly chains: readonly BranchChain[];
  readonly blobs: readonly BlobRow[];
}

/** Texts that a session was frozen with. */
const FROZEN = ["instructions", "client_system"] as const;

/** A branch, or how many user messages there are where `at` is none of them. */
export type BranchAnswer =
  | { readonly kind: "branch"; readonly branch: Branch }
  | { readonly kind: "outside"; readonly messages: number };

/**
 * Reads a branch of a session: all of it (`at` null), or what stands before the user message with that ordinal. Entries,
 * call ids and frozen bytes are the session's own. The deferrals go along if every load point does; else the branch
 * starts without, and all its epochs are over (`fork_reset`). Changes nothing.
 */
export function readBranch(store: Store, row: SessionRow, at: number | null, title: string): BranchAnswer {
  const texts = new Map<number, string>();
  const all = [...store.entries(0)].map(([seq, text]): Numbered => {
    texts.set(seq, text);
    return { seq, entry: decodeEntry(text) };
  });
  const taken = at === null ? finishedEntries(all, row.status === "running" ? row.turn : null) : entriesBefore(all, at);
  if (taken === null) return { kind: "outside", messages: userMessages(toldEntries(all)).length };

  const effective = effectiveContext(taken);
  const deferrals = ToolDeferrals.parse(row.deferrals, sessionName(row));
  const warm = survives(deferrals, effective) && hasCompactions(all, taken);
  const { chains, cold } = branchChains(store, effective, warm);
  const lastSeq = taken.at(-1)?.seq ?? 0;
  const entries = taken.map(({ seq }): EntryRow => [seq, texts.get(seq) ?? ""]);
  return {
    kind: "branch",
    branch: {
      v: 1,
      agent: row.agent,
      title,
      mode: row.mode,
      keepMs: row.keep_ms,
      from: { conversation: row.conversation, at },
      newest: newestTurn(row, taken, taken.length === all.length),
      wire: row.wire,
      sentThrough: Math.min(row.sent_through, lastSeq),
      lastSeq,
      cuts: newCuts(new History().add(entries), lastSeq) ?? "[]",
      deferrals: cold ? null : row.deferrals,
      entries,
      texts: FROZEN.flatMap((name) => {
        const text = store.text(name);
        return text === null ? [] : [{ name, text }];
      }),
      chains,
      blobs: blobsOf(store, taken),
    },
  };
}

/** Whether what was taken has each compaction that is in force: what was sent since, or is to be, begins with the newest. */
function hasCompactions(all: readonly Numbered[], taken: readonly Numbered[]): boolean {
  const there = new Set(taken.map(({ seq }) => seq));
  return toldEntries(all).every(({ seq, entry }) => entry.kind !== "compaction" || there.has(seq));
}

/** The turn that is the newest of what was taken. Whole, it stands as it stands; a part of it counts as stopped. */
function newestTurn(row: SessionRow, taken: readonly Numbered[], whole: boolean): Branch["newest"] {
  if (whole && row.status !== "running") {
    const { status, turn, user_seq, refused_from } = row;
    return { status, turn, user_seq, refused_from };
  }
  const isUser = ({ entry }: { entry: Entry }) => entry.kind === "user";
  const user = effectiveContext(taken).findLast(isUser);
  return { status: "stopped", turn: user?.entry.turn ?? "", user_seq: user?.seq ?? 0, refused_from: 0 };
}
