import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference, layoutOf, type Received } from "../emulators/anthropic/index.ts";

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

  /**
   * A request reached the provider. `verdict` is what the ledger said of it; `deployed` names the tools there are: the
   * model may call no other.
   */
  check(received: Received, verdict: Verdict, deployed: readonly string[]): void {
    if (received.kind === "refused") {
      throw new Error(`refused by ${received.failure.rule}: ${received.failure.message}`);
    }
    const { request, usage, idealCachedTokens, flags } = received;
    if (flags.length > 0) throw new Error(`flagged: ${flags.join("; ")}`);
    const roles = request.body.messages.map(({ role }) => role);
    const layout = layoutOf(request.source, roles);
    this.#checkVerdict(layout, verdict);
    const gone = undeclaredNames(request.body).filter((name) => deployed.includes(name));
    if (gone.length > 0) throw new Error(`called in the history but not declared: ${gone.join(", ")}`);
    if (verdict.prefix !== "extends") this.#written = false;
    const read = usage.cache_read_input_tokens;
    if (this.#written && read < idealCachedTokens) {
      throw new Error(`read ${read} cached tokens where ${idealCachedTokens} were possible`);
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
  const blocks = messages.flatMap(({ content }) =>
    content === undefined || typeof content === "string" ? [] : content,
  );
  const failed = new Set(blocks.flatMap((block) => (block.is_error ? (block.tool_use_id ?? []) : [])));
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use" || !block.name || declared.has(block.name)) return [];
    return failed.has(block.id ?? "") ? [] : [block.name];
  });
}
