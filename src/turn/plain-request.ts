import type { Part } from "../values/entry.ts";
import type { TurnRequest } from "./runtime.ts";

/** A turn that code asks for: no client comes with a history, a system text or settings of its own, or can leave. */
export function plainRequest(
  given: Pick<TurnRequest, "agent" | "owner" | "conversation" | "requestId" | "traceparent" | "host" | "once" | "task">,
  content: readonly Part[],
): TurnRequest {
  return {
    ...given,
    user: { content, blobs: [] },
    sent: null,
    seed: [],
    clientSystem: null,
    settings: { call: {}, epoch: {} },
    signal: null,
    onDisconnect: "continue",
  };
}
