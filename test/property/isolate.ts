import type { SessionApi } from "../../src/session/contract.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { Verdict } from "../../src/values/turn-event.ts";
import type { Findings } from "./findings.ts";
import type { Fault } from "./history.ts";

export const LEASE_SECONDS = 15;

/** An isolate: dies when the history says so, and nothing it does after that reaches anybody. */
export interface Isolate {
  dead: boolean;
  verdict: Verdict;
  /** The number of the user message that it answers, from 0, once it was asked. */
  message: number | null;
  /** What its client said, which each of its requests must carry; empty where its turn goes on without a word. */
  asked: string;
  /** Canaries of results that this isolate's next request must carry. */
  said: string[];
  /** What its last request loads in front of the model. */
  loads: readonly string[];
}

export function freshIsolate(asked = ""): Isolate {
  return { dead: false, verdict: { prefix: "first" }, message: null, asked, said: [], loads: [] };
}

/** Ends an isolate at a fault of the history. */
export function kill(isolate: Isolate, fault: Fault, { seen }: Findings): never {
  isolate.dead = true;
  seen.add(`fault ${fault}`);
  throw lost();
}

/** Throws where the isolate is dead. */
export function requireAlive({ dead }: Isolate): void {
  if (dead) throw lost();
}

/** The session as a living isolate reaches it; a dead one reaches nothing. `inMode` is told of what a turn or a compaction starts from. */
export function living(session: SessionApi, isolate: Isolate, inMode: (mode: string) => void): SessionApi {
  return new Proxy(session, {
    get(target, method: keyof SessionApi) {
      return async (...args: unknown[]) => {
        requireAlive(isolate);
        const answer: unknown = await Reflect.apply(target[method], target, args);
        const starts = ["begin", "reread", "resume", "snapshot"].includes(method);
        if (starts && typeof answer === "object" && answer !== null && "mode" in answer) inMode(String(answer.mode));
        return answer;
      };
    },
  });
}

function lost(): HoldfastError {
  return new HoldfastError({ reason: "lost", message: "This isolate is dead." });
}
