import type { TurnRequest } from "../../turn/runtime.ts";
import type { ChatBody } from "./request.ts";

/** The settings a request brings. What its model refuses is dropped by the turn and named in `x-holdfast-ignored`. */
export function readSettings(body: ChatBody): TurnRequest["settings"] {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  return {
    call: {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(body.temperature == null ? {} : { temperature: body.temperature }),
      ...(body.top_p == null ? {} : { topP: body.top_p }),
      ...(body.stop == null || body.stop.length === 0 ? {} : { stop: body.stop }),
    },
    epoch: body.reasoning_effort == null ? {} : { effort: body.reasoning_effort },
  };
}
