import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/common/layout.ts";
import { type Given, Lineage } from "./lineage.ts";
import { difference, endsWithChange } from "./tail.ts";

/** One chain of requests: those to one model, in one mode where a mode is a chain of its own. */
export interface Chain {
  /** The last request that reached the provider, and the last that was answered. */
  sent: Layout | null;
  answered: Layout | null;
  /** What the ledger said of the requests since the last answer. */
  verdict: string;
  /** The last request was answered and the session knows it: what it wrote to the cache has to be read. */
  written: boolean;
  /** What it had in the cache, as far as it can be read. */
  cached: number;
  /** When the oldest of that was written, in milliseconds. */
  at: number;
  readonly allowed: Set<string>;
  /** Why it broke last. */
  began: Cause | null;
  /** Reasons that stood at requests of which the ledger knows nothing: they were lost before their answer was stored. */
  readonly unsaid: Set<string>;
  /** Since then a request was made ready, and its isolate died before it went out. */
  unsent: boolean;
  /** Since its last request something was deployed. */
  deployed: boolean;
  readonly lineage: Lineage;
  /** What the session was copied with; null once a request was made. */
  given: Given | null;
}

/** Whether something happened that lets the chain break for that reason. */
export function isAllowed({ allowed, unsaid }: Chain, cause: string): boolean {
  return allowed.has(cause) || unsaid.has(cause);
}

export function newChain(): Chain {
  return {
    sent: null,
    answered: null,
    verdict: "",
    written: false,
    cached: 0,
    at: 0,
    allowed: new Set(),
    began: null,
    unsaid: new Set(),
    unsent: false,
    deployed: false,
    lineage: new Lineage(),
    given: null,
  };
}

/** The same but for tools that were added behind the inline ones. */
export function addsInline(earlier: Layout, later: Layout): boolean {
  const known = later.inline.slice(0, earlier.inline.length);
  return layoutDifference(earlier, { ...later, inline: known }) === null && later.inline.length > earlier.inline.length;
}

/** The ledger holds a request against the last that was answered; what was lost may have been taken back since. */
export function checkVerdict(chain: Chain, layout: Layout, verdict: Verdict, inlineOnly: boolean): void {
  const said = JSON.stringify(verdict);
  const wrong = () => new Error(`the ledger calls it ${said}`);
  // What stood at an epoch's first request stands until one of its requests is answered.
  const repeated = said === chain.verdict;
  chain.verdict = said;
  switch (verdict.prefix) {
    case "extends": {
      const why = chain.answered === null ? null : difference(chain.answered, layout);
      if (why !== null || chain.sent === null) throw new Error(`${wrong().message}, but: ${why}`);
      return;
    }
    case "first":
      if (chain.answered !== null) throw wrong();
      return;
    case "break":
      if (chain.sent === null) return;
      if (isAllowed(chain, verdict.cause)) return;
      // The same message again takes back an answer that was cut.
      if (verdict.cause === "rewind" && chain.answered !== null && endsWithChange(chain.answered)) return;
      // Since the last answer a request may have been lost that had a reason of its own to break.
      if (verdict.cause === "late_inline" && inlineOnly) {
        // One that never went out may have begun anew, whose list is another.
        if (chain.unsent && (isAllowed(chain, "compaction") || isAllowed(chain, "revoked"))) return;
        if (addsInline(chain.answered ?? chain.sent, layout) || addsInline(chain.sent, layout)) return;
        // What stands behind the list may change as well, for a reason of its own, now or at the one that was lost.
        const another = chain.allowed.size + chain.unsaid.size > 0;
        if (another && layoutDifference(chain.sent, layout) === null) return;
        if (another && addsInline(chain.sent, { ...chain.sent, inline: layout.inline })) return;
      }
      if (!repeated) throw wrong();
  }
}
