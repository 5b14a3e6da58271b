import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/common/layout.ts";
import { addsInline, type Chain, checkVerdict, isAllowed, newChain } from "./chain.ts";
import { checkFirst, reaches, TTL_MS } from "./lineage.ts";
import { difference } from "./tail.ts";

/** What happened since a chain's last request that allows a break of it. */
export type Reason = Extract<Cause, "rewind" | "renderer" | "revoked" | "compaction">;

/** A request that the provider accepted. */
export interface Accepted {
  readonly layout: Layout;
  /** What the request shows that no request may: see `wire-rules.ts`. */
  readonly problems: readonly string[];
  readonly readTokens: number;
  readonly idealTokens: number;
  /** As in `Met`. */
  readonly reach?: number | undefined;
  /** The model takes no tool but inline: a request may add some to the list, and the ledger has to say so. */
  readonly inlineOnly: boolean;
  /** For rings that copy sessions: all that is in the cache once it is answered, and the user message it answers, from 0. */
  readonly copied?: { readonly cached: number; readonly message: number };
}

/** Follows the requests of one history and throws at the first that breaks a promise. */
export class Checker {
  readonly #chains = new Map<string, Chain>();
  #current: Chain = newChain();
  #last: Accepted | null = null;
  /** Others say the same, as copies do: they may have written more than this session's own requests. */
  #copied: boolean;

  /** When the first request of any session may have written to the cache. */
  readonly #since: number;

  /** `shared`: as above, from the beginning. */
  constructor(shared = false, since = Number.POSITIVE_INFINITY) {
    this.#copied = shared;
    this.#since = since;
  }

  /**
   * The checker of a copy with so many user messages. `ended`: why a chain is over there; null where it goes on.
   */
  copy(messages: number, ended: (chain: string) => Cause | null): Checker {
    const copy = new Checker(true, this.#since);
    this.#copied = true;
    for (const [model, { lineage, allowed, unsaid, began, at }] of this.#chains) {
      const known = lineage.before(messages);
      const given = { newest: known.newest, ended: ended(model), began };
      copy.#chains.set(model, {
        ...newChain(),
        ...{ at, allowed: new Set(allowed), unsaid: new Set(unsaid), began, lineage: known, given },
      });
    }
    return copy;
  }

  /** From here on the next request of each chain may break it for this reason. */
  allow(reason: Reason): void {
    for (const chain of this.#chains.values()) chain.allowed.add(reason);
  }

  /**
   * A summary was asked for: a request that goes on from the chain's last answered one, reads all that one left in the
   * cache, and is itself no link of the chain. `again`: it is the second try, for which tools are forbidden.
   */
  checkAside(
    model: string,
    { layout, problems: all, readTokens, idealTokens, inlineOnly }: Accepted,
    again: boolean,
    now = 0,
  ): void {
    // It leaves out what will stay anyway, the place where a tool was loaded perhaps included, and nothing is marked for it;
    // it ends with no word on what the mode withholds, for no call in its answer is ever made.
    const problems = all.filter(
      (problem) => !/was (loaded|called) and is not declared$| in sight in the mode /.test(problem),
    );
    if (problems.length > 0) throw new Error(problems.join("; "));
    // It may have written more of what comes next than the chain itself.
    this.#copied = true;
    const chain = this.#chains.get(model) ?? newChain();
    if (chain.answered === null || chain.sent === null || chain.given !== null || chain.allowed.size > 0 || again)
      return;
    // The last request broke already, for a reason that was checked, and was never answered.
    if (layoutDifference(chain.answered, chain.sent) !== null || chain.verdict.includes('"break"')) return;
    // What never went out may have had new tools in its list.
    if (chain.unsent && inlineOnly && addsInline(chain.answered, layout)) return;
    const broke = difference(chain.answered, layout);
    if (broke !== null) throw new Error(`the summary's request does not extend the last one: ${broke}`);
    const whole = layoutDifference(chain.answered, layout) === null;
    const possible = Math.min(idealTokens, chain.cached);
    if (chain.written && whole && now < chain.at + TTL_MS && readTokens < possible) {
      throw new Error(`the summary's request read ${readTokens} cached tokens where ${possible} were possible`);
    }
    chain.cached = possible;
  }

  /** What is rendered from here on may be other than before. */
  deployed(): void {
    for (const chain of this.#chains.values()) chain.deployed = true;
  }

  /** A request of that chain was made ready, and never went out. */
  unsent(name: string): void {
    const chain = this.#chains.get(name);
    if (chain !== undefined) chain.unsent = true;
  }

  /** Messages from that one on may be told anew. */
  rewound(message: number): void {
    for (const { lineage } of this.#chains.values()) lineage.cut(message);
  }

  /** The last request's answer began. `known`: its isolate lived on, so that the session knows of it. */
  begun(known: boolean, now = 0): void {
    this.#current.written = known;
    if (!known) return;
    const { layout, copied } = this.#last ?? {};
    this.#current.cached = copied?.cached ?? 0;
    if (layout !== undefined && copied !== undefined) {
      this.#current.lineage.add(copied.message, { layout, cached: copied.cached, at: now });
    }
    this.#current.answered = this.#current.sent;
    this.#current.verdict = "";
  }

  /** A request of a chain reached the provider. `verdict` is what the ledger said of it, null where it says nothing: it was lost. */
  check(name: string, accepted: Accepted, verdict: Verdict | null, now = 0): void {
    const { layout, problems, readTokens, idealTokens, inlineOnly } = accepted;
    if (problems.length > 0) throw new Error(problems.join("; "));
    const chain = this.#chains.get(name) ?? { ...newChain(), at: this.#oldest(now) };
    this.#chains.set(name, chain);
    const alive = now < chain.at + TTL_MS;
    // What is read lives on, but not what is shorter: only where nothing was read is all of it written anew.
    if (readTokens === 0 && (chain.at + TTL_MS <= now || chain.sent === null)) chain.at = now;
    this.#current = chain;
    this.#last = accepted;
    const { given } = chain;
    chain.given = verdict === null ? given : null;
    const added = inlineOnly && given?.newest != null && addsInline(given.newest.layout, layout);
    const cause = verdict?.prefix === "break" ? verdict.cause : null;
    const stands = given?.ended === null && cause === given.began;
    const declared = cause !== null && (isAllowed(chain, cause) || stands || (added && cause === "late_inline"));
    if (cause !== null) chain.began = cause;
    if (given !== null && verdict !== null && !declared) checkFirst(given, accepted, verdict, now);
    if (given !== null) chain.verdict = JSON.stringify(verdict);
    const broke = chain.sent === null ? null : brokenBy(chain, chain.sent, layout);
    const grew = inlineOnly && chain.sent !== null && addsInline(chain.sent, layout);
    if (broke !== null && !grew && chain.allowed.size === 0)
      throw new Error(`does not extend the last request: ${broke}`);
    if (verdict !== null && given === null) checkVerdict(chain, layout, verdict, inlineOnly);
    if (chain.sent !== null && layoutDifference(chain.sent, layout) !== null) chain.written = false;
    // Where the compaction was taken back the bytes are those of before, but what was marked in them is not known any more.
    if (cause === "compaction") chain.written = false;
    const possible = this.#copied || this.#hasTwin(name) ? Math.min(idealTokens, chain.cached) : idealTokens;
    const near = chain.sent === null || reaches(chain.sent, accepted);
    if (chain.written && near && alive && readTokens < possible) {
      throw new Error(`read ${readTokens} cached tokens where ${possible} were possible`);
    }
    // Of what the last answered request wrote no later one can read more, until the next is answered.
    chain.cached = Math.min(chain.cached, possible);
    if (verdict !== null) chain.unsaid.clear();
    else
      for (const reason of [...chain.allowed, ...(chain.sent === null ? ["model", "mode"] : [])])
        chain.unsaid.add(reason);
    chain.sent = layout;
    chain.unsent = false;
    chain.deployed = false;
    chain.lineage.accepted(layout);
    chain.allowed.clear();
  }

  /** Since when there may be something in the cache that a chain reads which begins now. */
  #oldest(now: number): number {
    return Math.min(now, this.#since, ...[...this.#chains.values()].map(({ at }) => at));
  }

  /** Whether the model has a chain in another mode: that one may have written more of what both begin with. */
  #hasTwin(name: string): boolean {
    const [model = ""] = name.split("#");
    return [...this.#chains.keys()].some((other) => other !== name && other.startsWith(`${model}#`));
  }
}

/** How the thinking of a turn that is running begins. */
const THINKING = /^assistant \{"type":"(redacted_)?thinking"/;

/**
 * Where a request does not extend the last one, or null. One that was never answered is rendered again: as what was deployed
 * since has it, and without the thinking of the turn that was running then.
 */
function brokenBy({ answered, deployed }: Chain, sent: Layout, layout: Layout): string | null {
  const why = difference(sent, layout, sent === answered);
  if (why === null || sent === answered) return why;
  if (deployed) return answered === null ? null : difference(answered, layout);
  const without = (one: Layout) => ({ ...one, blocks: one.blocks.filter((block) => !THINKING.test(block)) });
  return difference(without(sent), without(layout), false) === null ? null : why;
}
