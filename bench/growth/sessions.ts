import { encodeEntry } from "../../src/values/entry.ts";
import type { Emulator } from "../../test/emulators/anthropic/index.ts";
import { startWorkerd, type Workerd } from "../../test/workerd.ts";
import { readStream } from "../lib/read-stream.ts";
import { median } from "../lib/stats.ts";
import { turnRequest } from "../turn/contenders.ts";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A session of a size, and what a further turn in it takes. */
export interface Grown {
  readonly entries: number;
  /** Median of a turn, in ms; NaN where the size was not reached in time. */
  readonly turn: number;
  /** Bytes of the request that the model got. */
  readonly body: number;
  /** What the emulator alone takes for that request, in ms. */
  readonly model: number;
}

const QUESTION = "What is the answer, please, in 10 tokens?";
/** What every session begins with. */
const FIRST: readonly Message[] = [
  { role: "user", content: "Hello, I have a question." },
  { role: "assistant", content: "Go ahead." },
];
const TURNS = 20;
/** Regenerating stops here, whatever size was reached. */
const PATIENCE_MS = 60_000;

/** Sessions with a worker of their own, which are made large in the ways a client can make them large. */
export class Sessions {
  readonly #workerd: Workerd;
  readonly #emulator: Emulator;

  private constructor(workerd: Workerd, emulator: Emulator) {
    this.#workerd = workerd;
    this.#emulator = emulator;
  }

  static async start(emulator: Emulator): Promise<Sessions> {
    const workerd = await startWorkerd({
      entry: "bench/growth/worker.ts",
      bindings: {
        ANTHROPIC_API_KEY: "key",
        ANTHROPIC_BASE_URL: emulator.url,
        HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench",
      },
    });
    return new Sessions(workerd, emulator);
  }

  /** A long history of which an edit left two messages: many entries, the same context. */
  async edited(entries: number): Promise<Grown> {
    const id = `edited-${entries}`;
    await this.#begin(id, entries);
    await this.#say(id, [...FIRST, { role: "user", content: `${QUESTION} Again.` }]);
    return this.#measure(id, entries);
  }

  /** A long history, all of it sent. */
  async growing(entries: number): Promise<Grown> {
    const id = `growing-${entries}`;
    await this.#begin(id, entries);
    return this.#measure(id, entries);
  }

  /** One message whose answer is regenerated until there are so many entries; for each size what the next ones take. */
  async regenerated(sizes: readonly number[]): Promise<Grown[]> {
    const until = Date.now() + PATIENCE_MS;
    const again = () => this.#say("regenerated", [{ role: "user", content: QUESTION }]);
    await again();
    let entries = 2;
    const grown: Grown[] = [];
    for (const size of sizes) {
      while (entries < size && Date.now() < until) {
        await again();
        entries += 2;
      }
      const times: number[] = [];
      for (let n = 0; n < TURNS && entries >= size; n += 1, entries += 2) times.push(await again());
      grown.push({ entries: size, turn: median(times), ...(await this.#request()) });
    }
    return grown;
  }

  dispose(): Promise<void> {
    return this.#workerd.dispose();
  }

  /** A session of so many entries. */
  async #begin(id: string, entries: number): Promise<void> {
    await this.#say(id, [...FIRST, { role: "user", content: QUESTION }]);
    const body = JSON.stringify(entryTexts(Math.max(0, entries - 4)));
    const response = await this.#workerd.fetch(`/bench/grow?conversation=${id}`, { method: "POST", body });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }

  async #measure(id: string, entries: number): Promise<Grown> {
    const times: number[] = [];
    for (let n = 0; n < TURNS + 3; n += 1) {
      const time = await this.#say(id, [{ role: "user", content: `${QUESTION} Number ${n}.` }]);
      if (n >= 3) times.push(time);
    }
    return { entries, turn: median(times), ...(await this.#request()) };
  }

  /** Says something and answers how long it took; what it leaves to be done after it is over by then. */
  async #say(id: string, sent: readonly Message[]): Promise<number> {
    const body = JSON.stringify({ model: "assistant", stream: true, messages: sent });
    const request = { ...turnRequest(id, ""), body };
    const { whole } = await readStream(() => this.#workerd.fetch("/v1/chat/completions", request));
    await new Promise((resolve) => setTimeout(resolve, 40));
    return whole;
  }

  /** The newest request, and what the emulator takes for it. */
  async #request(): Promise<{ body: number; model: number }> {
    const text = this.#emulator.requests.at(-1)?.bodyText ?? "";
    const headers = { "content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01" };
    const times: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const since = performance.now();
      await (await fetch(new URL("/v1/messages", this.#emulator.url), { method: "POST", headers, body: text })).text();
      times.push(performance.now() - since);
    }
    return { body: text.length, model: median(times) };
  }
}

/** Texts of entries of a history that a client brought, an even number of them. */
function entryTexts(count: number): string[] {
  const made = { v: 1, origin: "client", at: 0, turn: "seeded" } as const;
  return Array.from({ length: count - (count % 2) }, (_, index) => {
    const text = `${index % 2 === 0 ? "Question" : "Answer"} ${index}: what came of the matter that we spoke about?`;
    if (index % 2 === 0) return encodeEntry({ ...made, kind: "user", content: [{ type: "text", text }] });
    const blocks = [{ type: "text", text }] as const;
    return encodeEntry({ ...made, kind: "assistant", model: "", chain: "", epoch: 0, blocks, stop: "end" });
  });
}
