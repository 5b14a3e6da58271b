import { isMessage } from "../context/effective.ts";
import type { ModelEvent } from "../providers/contract.ts";
import type { Diagnosis } from "../values/diagnosis.ts";
import type { Block, CallBlock, Stop } from "../values/entry.ts";
import { NO_USAGE, type Usage } from "../values/usage.ts";

/**
 * A model's answer while it comes in. What it holds is valid at any moment: of an answer that is cut, whole blocks and
 * the text so far are kept; a call whose input is incomplete and thinking without a signature are not.
 */
export class Answer {
  begun = false;
  /** The provider's id of it. */
  message: string | null = null;
  diagnosis: Diagnosis | null = null;
  usage: Usage = NO_USAGE;
  stop: Stop = "cut";
  detail: string | undefined;
  /** The provider compacted what came before. */
  compacted: { readonly summary: string | null; readonly raw: string } | null = null;
  #blocks: Block[] = [];
  #partial = "";

  take(event: ModelEvent): void {
    switch (event.type) {
      case "begun":
        this.begun = true;
        this.message = event.id;
        this.diagnosis = event.diagnosis ?? null;
        return;
      case "text":
        this.#partial += event.text;
        return;
      case "thinking":
        return;
      case "compacted":
        this.compacted = { summary: event.summary, raw: event.raw };
        return;
      case "block":
        this.#partial = "";
        this.#blocks.push(event.block);
        return;
      case "usage":
        this.usage = event.usage;
        return;
      case "stop":
        this.stop = event.stop;
        this.detail = event.detail;
        if (event.stop === "length" && isCutCall(this.#blocks.at(-1))) this.#blocks.pop();
        return;
    }
  }

  get blocks(): Block[] {
    const text: Block[] = this.#partial === "" ? [] : [{ type: "text", text: this.#partial }];
    const blocks = [...this.#blocks, ...text].filter((block) => block.type !== "text" || block.text.trim() !== "");
    if (!CUT.has(this.stop)) return blocks;
    // Thinking that led to nothing any more: no API takes it as the end of a message.
    return blocks.slice(0, blocks.findLastIndex((block) => block.type !== "thinking") + 1);
  }

  /** Whether anything of it is sent as a message: more than thinking or empty text came. */
  get isMessage(): boolean {
    return isMessage(this);
  }

  get calls(): CallBlock[] {
    return this.#blocks.filter((block) => block.type === "call");
  }
}

const CUT: ReadonlySet<Stop> = new Set(["cut", "stopped", "length"]);

/** A call that the output limit cut: the provider ends its block all the same, with half of the input in it. */
function isCutCall(block: Block | undefined): boolean {
  if (block?.type !== "call") return false;
  try {
    JSON.parse(block.input);
    return false;
  } catch {
    return true;
  }
}
