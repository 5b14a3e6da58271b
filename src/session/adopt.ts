import type { Branch } from "./branch.ts";
import { writeBranchChains } from "./branch-chain.ts";
import type { SessionId } from "./contract.ts";
import { firstFence } from "./start.ts";
import type { Store } from "./store.ts";

/** Makes a session of a branch, as one transaction, in an object that has none. `now` in milliseconds. */
export function adoptBranch(store: Store, id: SessionId, branch: Branch, now: number): void {
  const { newest, wire, lastSeq } = branch;
  store.transaction(() => {
    store.prepare();
    for (const [seq, text] of branch.entries) store.addEntries(1, seq, [text]);
    store.addBlobs(1, branch.blobs);
    for (const { name, text } of branch.texts) store.addText(1, name, text);
    const rev = Math.max(1, writeBranchChains(store, 1, branch.chains));
    store.create({
      ...{ owner: id.owner, agent: id.agent, conversation: id.conversation },
      ...{ title: branch.title, mode: branch.mode, created_at: now, updated_at: now },
      ...{ generation: crypto.randomUUID(), rev, last_seq: lastSeq, sent_through: branch.sentThrough },
      ...{ cuts: branch.cuts, deferrals: branch.deferrals, deferrals_rev: branch.deferrals === null ? 0 : rev },
      ...{ fence: firstFence(), ...newest, step: 0, attempts: 1, lease_seconds: 0, cancel: 0 },
      ...{ wire, wire_before: wire, attempt: "", sent_before: branch.sentThrough, resumed: 0, last_append: "" },
      ...{
        parent: null,
        forks: 0,
        forked_from: branch.from?.conversation ?? null,
        forked_at: branch.from?.at ?? null,
        keep_ms: branch.keepMs,
      },
      ...{ asked: "", body: "", began_at: 0, handed: 0, ended: "" },
      ...{ flushed_rev: 0, flushed_seq: 0, recorded_rev: 0, refused: "[]", admitted: "[]", deleted_at: null },
    });
  });
}
