import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/anthropic/index.ts";

/** What happened since the last request that allows a break. */
export type Reason = Extract<Cause, "rewind" | "renderer">;

/** A request that the provider accepted. */
export interface Accepted {
  readonly layout: Layout;
  /** What the request shows that no request may: see `wire-rules.ts`. */
  readonly problems: readonly string[];
  readonly readTokens: number;
  readonly idealTokens: number;
}

/** Follows the requests of one history and throws at the first that breaks a promise. */
export class Checker {
  #last: Layout | null = null;
  #lastVerdict = "";
  /** A request of this epoch was answered. */
  #written = false;
  #allowed = new Set<string>();

  /** From here on the next request may break the chain for this reason. */
  allow(reason: Reason): void {
    this.#allowed.add(reason);
  }

  /** The request's answer began, so that what it wrote to the cache can be read. */
  begun(): void {
    this.#written = true;
  }

  /**
   * A request reached the provider. `verdict` is what the ledger said of it, null where that is not known yet.
   */
  check({ layout, problems, readTokens, idealTokens }: Accepted, verdict: Verdict | null): void {
    if (problems.length > 0) throw new Error(problems.join("; "));
    const broke = this.#last === null ? null : layoutDifference(this.#last, layout);
    if (broke !== null && this.#allowed.size === 0) throw new Error(`does not extend the last request: ${broke}`);
    if (verdict !== null) this.#checkVerdict(verdict, broke !== null);
    if (broke !== null) this.#written = false;
    if (this.#written && readTokens < idealTokens) {
      throw new Error(`read ${readTokens} cached tokens where ${idealTokens} were possible`);
    }
    this.#last = layout;
    this.#allowed.clear();
  }

  #checkVerdict(verdict: Verdict, broke: boolean): void {
    const said = JSON.stringify(verdict);
    const declared = verdict.prefix === "break" && this.#allowed.has(verdict.cause);
    // An epoch's first request may be lost before it is recorded: the next one stands for it, and has to extend it.
    const repeated = said === this.#lastVerdict && !broke;
    if (verdict.prefix === "extends" ? broke || this.#last === null : !declared && !repeated && this.#last !== null) {
      throw new Error(`an undeclared break, which the ledger calls ${said}`);
    }
    this.#lastVerdict = said;
  }
}
