import type { AppendRequest, SessionApi } from "../../src/session/contract.ts";
import type { Status } from "../../src/values/entry.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { Verdict } from "../../src/values/turn-event.ts";
import type { Findings } from "./findings.ts";

/** Long enough that a turn whose client left 20 s ago is handed over, and not lost. */
export const LEASE_SECONDS = 31;

/** An isolate: dies when the history says so, and nothing it does after that reaches anybody. */
export interface Isolate {
  dead: boolean;
  /** What ended it, once it is dead, or has it end: at its next request, once its next answer is stored, or in its tool `hang`. */
  fault: string | null;
  dies: "at_request" | "at_answer" | null;
  inTool: "dead_in_tool" | "handed_in_tool";
  /** It goes on with a turn that was under way. */
  resumed: boolean;
  verdict: Verdict;
  /** The number of the user message that it answers, from 0, once it was asked. */
  message: number | null;
  /** What its client said, which each of its requests must carry; empty where its turn goes on without a word. */
  asked: string;
  /** Canaries of results that this isolate stores next. */
  said: string[];
  /** How the calls of its last answer came out, by their ids. */
  readonly ran: Map<string, Status>;
  /** What its last request loads in front of the model. */
  loads: readonly string[];
}

export function freshIsolate(asked = ""): Isolate {
  return {
    ...{ dead: false, fault: null, dies: null, inTool: "dead_in_tool", verdict: { prefix: "first" }, message: null },
    ...{ asked, resumed: false, said: [], ran: new Map(), loads: [] },
  };
}

/** Ends an isolate at a fault of the history. */
export function kill(isolate: Isolate, fault: string, { seen }: Findings): never {
  isolate.dead = true;
  isolate.fault = fault;
  seen.add(`fault ${fault}`);
  throw lost();
}

/** Throws where the isolate is dead. */
export function requireAlive({ dead }: Isolate): void {
  if (dead) throw lost();
}

/** What is told of the calls of a session: what a turn or a compaction starts from, and what was stored. */
export interface Watching {
  started(start: { readonly mode: string; readonly resumed: boolean }, method: keyof SessionApi): void;
  stored(request: AppendRequest): void;
}

/** The session as a living isolate reaches it; a dead one reaches nothing. */
export function living(session: SessionApi, isolate: Isolate, watching: Watching): SessionApi {
  return new Proxy(session, {
    get(target, method: keyof SessionApi) {
      return async (...args: unknown[]) => {
        requireAlive(isolate);
        const answer: unknown = await Reflect.apply(target[method], target, args);
        if (typeof answer !== "object" || answer === null) return answer;
        const starts = ["begin", "reread", "resume", "snapshot"].includes(method);
        if (starts && "mode" in answer && "resumed" in answer) {
          watching.started({ mode: String(answer.mode), resumed: answer.resumed === true }, method);
        }
        if (method === "append" && "kind" in answer && answer.kind === "ok") watching.stored(args[0] as AppendRequest);
        return answer;
      };
    },
  });
}

function lost(): HoldfastError {
  return new HoldfastError({ reason: "lost", message: "This isolate is dead." });
}
