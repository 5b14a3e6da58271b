import { HoldfastError } from "../values/errors.ts";
import type { PauseAnswer } from "../values/pause.ts";
import { sessionId } from "./begin.ts";
import { plainRequest } from "./plain-request.ts";
import { usedUp } from "./quotas.ts";
import type { TurnRequest } from "./runtime.ts";
import type { TurnHost } from "./start.ts";

/** What answering needs of the world. */
export interface AnswerDeps<T> extends Pick<TurnHost, "sessions" | "log" | "quotas"> {
  /** Goes on with the turn. */
  readonly goOn: (request: TurnRequest) => T;
}

/**
 * Answers a pause, and goes on with its turn if no other one is open. Returns what that gives, else null. The same answer
 * again changes nothing, whatever is used up. Throws `not_found` for a pause that is not there, `bad_request` for an answer of another kind, and
 * `conflict` where it was answered otherwise or closed by a stop or a message.
 */
export async function answerPause<T>(
  deps: AnswerDeps<T>,
  env: Cloudflare.Env,
  whose: Parameters<typeof plainRequest>[0],
  pause: string,
  answer: PauseAnswer,
): Promise<Awaited<T> | null> {
  const { owner, agent, conversation } = whose;
  const id = sessionId(owner, agent.name, conversation.id);
  // An answer whose turn may not go on is not taken, so that it can be given again.
  const refused = await usedUp(deps, env, id, ["bytes", "tokensPerDay", "turns"], Date.now());
  const outcome = await deps.sessions(env, id).answer(pause, answer, refused === null);
  if (outcome === null) {
    throw new HoldfastError({
      reason: "not_found",
      message: `There is no session ${JSON.stringify(conversation.id)}.`,
    });
  }
  switch (outcome.kind) {
    case "answered":
      return outcome.goesOn ? await deps.goOn({ ...plainRequest(whose, []), goOn: true }) : null;
    case "not_taken":
      throw refused;
    case "unknown":
      throw new HoldfastError({ reason: "not_found", message: `There is no pause ${JSON.stringify(pause)}.` });
    case "mismatch": {
      const path = outcome.asks === "plan" ? "decision" : "answer";
      const message = `${path}: a pause of kind ${outcome.asks} is answered by it`;
      throw new HoldfastError({ reason: "bad_request", path, message });
    }
    case "closed": {
      const message =
        outcome.by === "answer"
          ? "This pause was answered otherwise."
          : "This pause was closed by a stop or a later message.";
      throw new HoldfastError({ reason: "conflict", message });
    }
  }
}
