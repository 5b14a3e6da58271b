import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import type { RecordedRequest } from "../emulators/anthropic/index.ts";

/** A request that reached the provider, and what the ledger said of it. */
export interface Sent {
  readonly record: Pick<RecordedRequest, "bodyText" | "error" | "flags" | "usage" | "idealCachedTokens">;
  readonly verdict: Verdict;
  /** Names of the tools that are deployed: the model may call no other. */
  readonly deployed: readonly string[];
}

/** What happened since the last request that allows a break. */
export type Reason = Extract<Cause, "rewind" | "renderer">;

/** Follows the requests of one history and throws at the first that breaks a promise. */
export class Checker {
  #last: string | null = null;
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

  check({ record, verdict, deployed }: Sent): void {
    if (record.error !== null) throw new Error(`refused by ${record.error.rule}: ${record.error.message}`);
    if (record.flags.length > 0) throw new Error(`flagged: ${record.flags.join("; ")}`);
    this.#checkVerdict(record.bodyText, verdict);
    const undeclared = undeclaredNames(record.bodyText).filter((name) => deployed.includes(name));
    if (undeclared.length > 0) throw new Error(`called in the history but not declared: ${undeclared.join(", ")}`);
    if (verdict.prefix !== "extends") this.#written = false;
    if (this.#written) {
      const read = record.usage?.cache_read_input_tokens ?? 0;
      if (read < record.idealCachedTokens) {
        throw new Error(`read ${read} cached tokens where ${record.idealCachedTokens} were possible`);
      }
    }
    this.#last = record.bodyText;
    this.#allowed.clear();
  }

  #checkVerdict(body: string, verdict: Verdict): void {
    const last = this.#last;
    const said = JSON.stringify(verdict);
    const allowed = verdict.prefix === "break" && REASONS.has(verdict.cause) && this.#allowed.has(verdict.cause);
    // An epoch's first request may be lost before it is recorded: the next one stands for it, and must extend it.
    if (!allowed && verdict.prefix !== "extends" && last !== null && said !== this.#lastVerdict) {
      throw new Error(`an undeclared break: ${said}`);
    }
    if (verdict.prefix === "extends" && last === null) throw new Error("the first request can extend nothing");
    const why = allowed || last === null ? null : whyNotExtends(last, body);
    if (why !== null) throw new Error(`does not extend the last request: ${why}`);
    this.#lastVerdict = said;
  }
}

const REASONS: ReadonlySet<string> = new Set<Reason>(["rewind", "renderer"]);

interface Wire {
  readonly tools: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: readonly Block[] }[];
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
}

/** Tools whose calls succeeded in the history but that the request does not declare. */
function undeclaredNames(body: string): string[] {
  const { tools, messages }: Wire = JSON.parse(body);
  const declared = new Set(tools.map(({ name }) => name));
  const blocks = messages.flatMap(({ content }) => content);
  const failed = new Set(blocks.flatMap((block) => (block.is_error ? (block.tool_use_id ?? []) : [])));
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use" || block.name === undefined || declared.has(block.name)) return [];
    return failed.has(block.id ?? "") ? [] : [block.name];
  });
}
