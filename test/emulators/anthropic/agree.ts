import type { Recorded } from "../agree/recorded.ts";
import type { Contender } from "../agree/verdict.ts";
import { KNOWN_BETAS } from "./betas.ts";
import { uncovered } from "./coverage.ts";
import { type ExamineSettings, examine, type IncomingRequest } from "./examine.ts";

/** Recordings hold no headers and no secrets, so every beta is on and signatures made elsewhere are believed. */
const settings: ExamineSettings = { signatures: "any" };

/** A recorded request as the emulator would receive it. */
export function incoming({ path, request }: Pick<Recorded, "path" | "request">): IncomingRequest {
  return {
    endpoint: path.includes("/count_tokens") ? "count_tokens" : "messages",
    headers: { "x-api-key": "recorded", "anthropic-version": "2023-06-01", "anthropic-beta": KNOWN_BETAS.join(",") },
    bodyText: JSON.stringify(request),
  };
}

/** The Anthropic emulator's rules against recordings of the API. */
export const anthropicContender: Contender = {
  provider: "anthropic",
  uncovered: ({ request }) => uncovered(request),
  reply: (exchange) => {
    const examined = examine(incoming(exchange), settings);
    if (examined.kind === "accepted") return { status: 200, errorType: null };
    const { status, type, message } = examined.failure;
    return { status, errorType: type, message };
  },
};
