import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/anthropic/extends.ts";
import type { RecordedRequest } from "../emulators/anthropic/index.ts";

/** A request that reached the provider, and what the ledger said of it. */
export interface Sent {
  readonly record: Pick<RecordedRequest, "error" | "flags" | "usage" | "idealCachedTokens">;
  /** The request's parts; null if it was refused. */
  readonly layout: Layout | null;
  /** Names of tools whose calls succeeded in the history but that the request does not declare. */
  readonly undeclared: readonly string[];
  readonly verdict: Verdict;
  /** Names of the tools that are deployed: the model may call no other. */
  readonly deployed: readonly string[];
}

/** What happened since the last request that allows a break. */
export type Reason = Extract<Cause, "rewind" | "renderer">;

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

  check({ record, layout, undeclared, verdict, deployed }: Sent): void {
    if (record.error !== null) throw new Error(`refused by ${record.error.rule}: ${record.error.message}`);
    if (record.flags.length > 0) throw new Error(`flagged: ${record.flags.join("; ")}`);
    if (layout === null) throw new Error("a request that was accepted has parts");
    this.#checkVerdict(layout, verdict);
    const gone = undeclared.filter((name) => deployed.includes(name));
    if (gone.length > 0) throw new Error(`called in the history but not declared: ${gone.join(", ")}`);
    if (verdict.prefix !== "extends") this.#written = false;
    if (this.#written) {
      const read = record.usage?.cache_read_input_tokens ?? 0;
      if (read < record.idealCachedTokens) {
        throw new Error(`read ${read} cached tokens where ${record.idealCachedTokens} were possible`);
      }
    }
    this.#last = layout;
    this.#allowed.clear();
  }

  #checkVerdict(layout: Layout, verdict: Verdict): void {
    const last = this.#last;
    const said = JSON.stringify(verdict);
    const allowed = verdict.prefix === "break" && REASONS.has(verdict.cause) && this.#allowed.has(verdict.cause);
    // An epoch's first request may be lost before it is recorded: the next one stands for it, and must extend it.
    if (!allowed && verdict.prefix !== "extends" && last !== null && said !== this.#lastVerdict) {
      throw new Error(`an undeclared break: ${said}`);
    }
    if (verdict.prefix === "extends" && last === null) throw new Error("the first request can extend nothing");
    const why = allowed || last === null ? null : layoutDifference(last, layout);
    if (why !== null) throw new Error(`does not extend the last request: ${why}`);
    this.#lastVerdict = said;
  }
}

const REASONS: ReadonlySet<string> = new Set<Reason>(["rewind", "renderer"]);

interface Wire {
  readonly tools?: readonly object[] | undefined;
  readonly messages: readonly { readonly content?: string | readonly Block[] | undefined }[];
}

interface Block {
  readonly type: string;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly tool_use_id?: string | undefined;
  readonly is_error?: boolean | null | undefined;
}

/** Tools whose calls succeeded in the history but that the request does not declare. */
export function undeclaredNames({ tools = [], messages }: Wire): string[] {
  const declared = new Set(tools.flatMap((tool) => ("name" in tool ? [tool.name] : [])));
  const blocks = messages.flatMap(({ content }) => (content === undefined || typeof content === "string" ? [] : content));
  const failed = new Set(blocks.flatMap((block) => (block.is_error ? (block.tool_use_id ?? []) : [])));
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use" || !block.name || declared.has(block.name)) return [];
    return failed.has(block.id ?? "") ? [] : [block.name];
  });
}
