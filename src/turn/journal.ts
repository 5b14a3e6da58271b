import type { Item } from "../providers/contract.ts";
import type { AppendRequest, ChainWrite, SessionApi, TurnStart } from "../session/contract.ts";
import { type Failure, HoldfastError } from "../values/errors.ts";
import type { Conversation } from "./conversation.ts";
import type { Prepared } from "./prepare.ts";
import { definitionMark, itemMark } from "./segments.ts";

/** What a turn writes to its session. Calls `attach` when somebody follows the turn who has nothing of it yet. Knows what the session has acknowledged, and whether the turn is over there. */
export class Journal {
  readonly #session: Pick<SessionApi, "append">;
  readonly #start: Pick<TurnStart, "fence" | "turn">;
  readonly #conversation: Conversation;
  readonly #attach: () => void;
  #over = false;

  constructor(
    session: Pick<SessionApi, "append">,
    start: Pick<TurnStart, "fence" | "turn">,
    conversation: Conversation,
    attach: () => void,
  ) {
    this.#session = session;
    this.#start = start;
    this.#conversation = conversation;
    this.#attach = attach;
  }

  /** Appends what the conversation has that is not acknowledged yet, with `fields`. Throws `lost` on a stale fence. */
  async append(kind: AppendRequest["kind"], step: number, fields: Partial<AppendRequest> = {}): Promise<void> {
    const { fence, turn } = this.#start;
    const { firstSeq, entries } = this.#conversation.unacknowledged();
    const { owed, deferrals } = this.#conversation;
    // A compaction and the reset of the deferrals are one append, whichever it is.
    const reset = owed.ends === undefined ? {} : { deferrals: JSON.stringify(deferrals) };
    const request = { v: 1, fence, turn, step, kind, firstSeq, entries, ...owed, ...reset, ...fields } as const;
    const answer = await this.#session.append(request);
    this.#over = kind === "finish" || kind === "handover" || answer.kind === "lost";
    if (answer.kind === "lost") throw lost();
    if (answer.attach) this.#attach();
    this.#conversation.acknowledged();
  }

  /**
   * Gives the session back after a fault of ours, so that the next turn need not wait for the lease to run out. What
   * was done is kept if it can be stored.
   */
  async giveUp(step: number, failure: Failure): Promise<void> {
    if (this.#over) return;
    const end = { status: "failed", failure } as const;
    try {
      await this.append("finish", step, { end });
    } catch {
      // It may be an entry that can't be stored: the turn then ends without it.
      if (!this.#over) await this.append("finish", step, { entries: [], end });
    }
  }
}

/** All that the session must know of a request before it goes out. */
export function saving(prepared: Prepared, conversation: Conversation): Partial<AppendRequest> {
  return {
    sentThrough: conversation.lastSeq,
    chain: chainWrite(prepared, conversation.chainKey),
    ...(prepared.changed ? { deferrals: JSON.stringify(conversation.deferrals) } : {}),
    ...(prepared.asked === null ? {} : { instructions: JSON.stringify(prepared.asked) }),
  };
}

/** The bytes that a request adds to its chain. */
export function chainWrite({ chain, opening, newDeferred, newItems }: Prepared, key: string): ChainWrite {
  return {
    key,
    epoch: chain.epoch,
    open: opening,
    deferred: newDeferred.map((definition) => JSON.stringify(definition)),
    items: newItems.map((item: Item) => JSON.stringify(item)),
    marks: { deferred: newDeferred.map(definitionMark), items: newItems.map(itemMark) },
  };
}

/**
 * What of a request's bytes the session gets only with its answer: all of them where it was not told before (`saved`),
 * and what the request ended with where a message follows (`kept`).
 */
export function answeredWrite(
  prepared: Prepared,
  key: string,
  saved: boolean,
  begun: boolean,
  kept: boolean,
): Pick<AppendRequest, "chain"> {
  if (!begun) return {};
  const tail = kept ? prepared.tail : [];
  if (saved && tail.length === 0) return {};
  const before = saved ? { opening: null, newDeferred: [], newItems: [] } : prepared;
  return { chain: chainWrite({ ...prepared, ...before, newItems: [...before.newItems, ...tail] }, key) };
}

export function lost(): HoldfastError {
  return new HoldfastError({ reason: "lost", message: "Another isolate has taken this turn over." });
}
