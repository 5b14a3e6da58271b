import { z } from "zod";
import type { Recorded } from "./recorded.ts";

/** What an API or an emulator said to a request: the status and, from 400 on, the error's type. */
export interface Reply {
  readonly status: number;
  readonly errorType: string | null;
  /** For a reader, where there is one. */
  readonly message?: string;
}

/** How an emulator takes part: what it says to a recorded request, and what it does not know. */
export interface Contender {
  readonly provider: string;
  /** The field, tool type or block type of the request that the emulator does not cover, if there is one. */
  uncovered(exchange: Recorded): string | null;
  reply(exchange: Recorded): Reply;
}

export type Verdict =
  | { readonly kind: "agrees" }
  | { readonly kind: "differs"; readonly recorded: Reply; readonly emulated: Reply }
  | { readonly kind: "uncovered"; readonly because: string };

/** Compares an emulator with a recording. */
export function judge(contender: Contender, exchange: Recorded): Verdict {
  const because = contender.uncovered(exchange);
  if (because !== null) return { kind: "uncovered", because };
  const recorded = recordedReply(exchange);
  const emulated = contender.reply(exchange);
  const agrees = recorded.status === emulated.status && recorded.errorType === emulated.errorType;
  return agrees ? { kind: "agrees" } : { kind: "differs", recorded, emulated };
}

const errorBody = z.looseObject({
  error: z.looseObject({ type: z.string().nullish(), message: z.string().optional() }),
});

function recordedReply({ status, response }: Recorded): Reply {
  if (status < 400) return { status, errorType: null };
  const parsed = errorBody.safeParse(response);
  if (!parsed.success) return { status, errorType: null };
  const { type = null, message } = parsed.data.error;
  return message === undefined ? { status, errorType: type } : { status, errorType: type, message };
}
