import type { Recorded } from "../agree/recorded.ts";
import type { Contender } from "../agree/verdict.ts";
import { uncovered } from "./coverage.ts";
import { type ExamineSettings, examine, type IncomingRequest } from "./examine.ts";

/** Recordings hold no secrets, so ids and blobs that were made elsewhere are believed. */
const settings: ExamineSettings = {
  foreign: "any",
  namespaces: "model",
  preamble: "pessimistic",
  stored: () => undefined,
  storedSource: () => [],
  storedItem: () => undefined,
};

/** What the emulator says to a recorded request. */
export function examineRecorded(exchange: Pick<Recorded, "path" | "request">) {
  return examine(incoming(exchange), settings);
}

function incoming({ path, request }: Pick<Recorded, "path" | "request">): IncomingRequest {
  const endpoint = path.endsWith("/compact")
    ? "compact"
    : path.endsWith("/input_tokens")
      ? "input_tokens"
      : "responses";
  return { endpoint, headers: { authorization: "Bearer recorded" }, bodyText: JSON.stringify(request) };
}

/** The OpenAI emulator's rules against recordings of the API. */
export const openaiContender: Contender = {
  provider: "openai",
  uncovered: ({ request }) => uncovered(request),
  reply: (exchange) => {
    const examined = examineRecorded(exchange);
    if (examined.kind === "accepted") return { status: 200, errorType: null };
    const { status, type, message } = examined.failure;
    return { status, errorType: type, message };
  },
};
