import type { Agent } from "../define/types.ts";
import type { SessionId, TurnStart } from "../session/contract.ts";
import type { Owner } from "../values/owner.ts";
import { plainRequest } from "./plain-request.ts";
import type { SubRequest, TurnRequest } from "./runtime.ts";

/** What of a request an isolate needs that goes on with its turn: the rest is in the session. */
interface Asked {
  readonly owner: Owner;
  readonly settings: TurnRequest["settings"];
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly host?: string | null;
  /** Of a sub-session's turn. */
  readonly sub?: Pick<SubRequest, "parent" | "steps" | "tokens">;
}

export function askedText({ owner, settings, requestId, traceparent = null, host = null, sub }: TurnRequest): string {
  const above = sub === undefined ? {} : { sub: { ...sub, budget: undefined } };
  const asked: Asked = { owner, settings, requestId, traceparent, host, ...above };
  return JSON.stringify(asked);
}

/** The request that a turn began with, as far as going on needs it. No client of it is connected to this isolate. */
export function askedBy({ asked = "" }: TurnStart, agent: Agent, { owner: id, conversation }: SessionId): TurnRequest {
  // Turns that an earlier release began have none.
  const known: Asked = asked === "" ? { owner: { id, name: id, roles: [] }, ...UNKNOWN } : JSON.parse(asked);
  const { owner, settings, requestId, traceparent, host = null, sub } = known;
  const at = { id: conversation, minted: false };
  const request = plainRequest({ agent, owner, conversation: at, requestId, traceparent, host }, []);
  return { ...request, settings, ...(sub === undefined ? {} : { sub: { ...sub, budget: null } }) };
}

const UNKNOWN = { settings: { call: {}, epoch: {} }, requestId: "resumed", traceparent: null };
