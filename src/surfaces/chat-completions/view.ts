import { pauseText } from "../../values/pause.ts";
import type { TurnEvent } from "../../values/turn-event.ts";

/** A piece of the answer: what is said, or what is shown of how it came about. */
export interface Delta {
  readonly kind: "content" | "reasoning";
  readonly text: string;
}

/** Characters of a call's input in its line. */
const INPUT_SHOWN = 160;

/**
 * What a Chat Completions client sees of a turn, event by event: text as content; thinking, and one line for each tool
 * call, as reasoning. A call is never shown as `tool_calls`, since clients would try to run it. The texts of two steps
 * are parted by an empty line, as `storedMessages` joins them.
 */
export class AnswerView {
  #content = "";
  #reasoning = "";
  #textStep: number | null = null;

  get content(): string {
    return this.#content;
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  take(event: TurnEvent): Delta[] {
    switch (event.type) {
      case "text": {
        if (event.text === "") return [];
        const apart = this.#textStep !== null && this.#textStep !== event.step;
        this.#textStep = event.step;
        return this.#show("content", apart ? `\n\n${event.text}` : event.text);
      }
      case "thinking":
        return event.text === "" ? [] : this.#show("reasoning", event.text);
      case "call":
        return this.#line(`→ ${event.name}(${oneLine(event.input)})${event.host ? " by the runtime" : ""}`);
      case "pause": {
        const text = pauseText(event.pause);
        return this.#show("content", this.#content === "" ? text : `\n\n${text}`);
      }
      case "progress":
        return this.#line(`· ${oneLine(event.text)}`);
      case "done":
        return event.detail === undefined ? [] : this.#line(oneLine(event.detail));
      case "started":
      case "request":
      case "answering":
      case "result":
      case "failed":
      // Told to those who follow a turn. A reader of its own isolate has left by then.
      case "withdrawn":
        return [];
    }
  }

  #line(text: string): Delta[] {
    const begin = this.#reasoning === "" || this.#reasoning.endsWith("\n") ? "" : "\n";
    return this.#show("reasoning", `${begin}${text}\n`);
  }

  #show(kind: Delta["kind"], text: string): Delta[] {
    if (kind === "content") this.#content += text;
    else this.#reasoning += text;
    return [{ kind, text }];
  }
}

function oneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= INPUT_SHOWN ? line : `${line.slice(0, INPUT_SHOWN - 1).toWellFormed()}…`;
}
