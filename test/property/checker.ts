import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/anthropic/index.ts";

/** What happened since a chain's last request that allows a break of it. */
export type Reason = Extract<Cause, "rewind" | "renderer" | "revoked">;

/** A request that the provider accepted. */
export interface Accepted {
  readonly layout: Layout;
  /** What the request shows that no request may: see `wire-rules.ts`. */
  readonly problems: readonly string[];
  readonly readTokens: number;
  readonly idealTokens: number;
}

/** One chain of requests: those to one model. */
interface Chain {
  /** The last request that reached the provider, and the last that was answered. */
  sent: Layout | null;
  answered: Layout | null;
  verdict: string;
  /** A request of this epoch was answered, so that there is something to read from the cache. */
  written: boolean;
  readonly allowed: Set<string>;
}

/** Follows the requests of one history and throws at the first that breaks a promise. */
export class Checker {
  readonly #chains = new Map<string, Chain>();
  #current: Chain = newChain();

  /** From here on the next request of each chain may break it for this reason. */
  allow(reason: Reason): void {
    for (const chain of this.#chains.values()) chain.allowed.add(reason);
  }

  /** The last request's answer began. */
  begun(): void {
    this.#current.answered = this.#current.sent;
    this.#current.written = true;
  }

  /** A request to a model reached the provider. `verdict` is what the ledger said of it, null where that is not known yet. */
  check(model: string, { layout, problems, readTokens, idealTokens }: Accepted, verdict: Verdict | null): void {
    if (problems.length > 0) throw new Error(problems.join("; "));
    const chain = this.#chains.get(model) ?? newChain();
    this.#chains.set(model, chain);
    this.#current = chain;
    const broke = chain.sent === null ? null : layoutDifference(chain.sent, layout);
    if (broke !== null && chain.allowed.size === 0) throw new Error(`does not extend the last request: ${broke}`);
    if (verdict !== null) checkVerdict(chain, layout, verdict, broke !== null);
    if (broke !== null) chain.written = false;
    if (chain.written && readTokens < idealTokens) {
      throw new Error(`read ${readTokens} cached tokens where ${idealTokens} were possible`);
    }
    chain.sent = layout;
    chain.allowed.clear();
  }
}

function newChain(): Chain {
  return { sent: null, answered: null, verdict: "", written: false, allowed: new Set() };
}

/** The ledger holds a request against the last that was answered; what was lost may have been taken back since. */
function checkVerdict(chain: Chain, layout: Layout, verdict: Verdict, broke: boolean): void {
  const said = JSON.stringify(verdict);
  const wrong = () => new Error(`the ledger calls it ${said}`);
  const repeated = said === chain.verdict && !broke;
  chain.verdict = said;
  switch (verdict.prefix) {
    case "extends": {
      const why = chain.answered === null ? null : layoutDifference(chain.answered, layout);
      if (why !== null || chain.sent === null) throw new Error(`${wrong().message}, but: ${why}`);
      return;
    }
    case "first":
      // The one before it may have been lost before it was recorded.
      if (chain.sent !== null && !repeated) throw wrong();
      return;
    case "break":
      if (verdict.cause === "model" ? chain.sent === null : chain.allowed.has(verdict.cause)) return;
      if (!repeated) throw wrong();
  }
}
