import { keepMs } from "../define/retention.ts";
import type { Agent } from "../define/types.ts";
import { sha256 } from "../prefix/digest.ts";
import type { Provider } from "../providers/contract.ts";
import type { BeginAnswer, BeginRequest, ResumeRequest, SessionId, TurnStart } from "../session/contract.ts";
import { sessionName } from "../session/name.ts";
import { encodeEntry } from "../values/entry.ts";
import { HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import { askedText } from "./asked.ts";
import { LEASE_SECONDS } from "./limits.ts";
import type { TurnRequest } from "./runtime.ts";
import type { Model } from "./settings.ts";

export function sessionId(owner: Owner, agent: string, conversation: string): SessionId {
  return { owner: owner.id, agent, conversation };
}

/** What a provider routes a session's requests by: says nothing of whose session it is. */
export function cacheKey(id: SessionId): string {
  return sha256(sessionName(id)).slice(0, 32);
}

/** The chain that a turn on this model belongs to. Where tools can only be withheld by leaving them out, a mode has its own. */
export function askedChain({ full, facts }: Model): BeginRequest["chain"] {
  return { model: full, perMode: !facts.toolChanges };
}

/** `HOLDFAST_LEASE_SECONDS`, or what a lease is without it. Throws when it is set to anything but a number of seconds. */
export function leaseSeconds(env: Cloudflare.Env): number {
  const { HOLDFAST_LEASE_SECONDS: setting = "" } = env;
  if (setting === "") return LEASE_SECONDS;
  const seconds = Number(setting);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new HoldfastError({
    reason: "internal",
    message: "This server's HOLDFAST_LEASE_SECONDS is not a number of seconds.",
  });
}

/** Who renders the requests to a model: what was sent without leaving its bytes looked as they made it. */
export function rendererOf(model: string, provider: Provider): string {
  return `${model} ${provider.wire}`;
}

/** What a turn says to its session when it begins. `turn` is the id it takes unless it resumes an earlier one. */
export function beginRequest(
  request: TurnRequest,
  model: Model,
  turn: string,
  env: Cloudflare.Env,
  now: number,
): BeginRequest {
  const { agent, owner, conversation, user, goOn, sent, seed, clientSystem, once, sub } = request;
  const made = { v: 1, origin: "client", at: now, turn } as const;
  const seeded = (role: "user" | "assistant", content: TurnRequest["seed"][number]["content"]) =>
    role === "user"
      ? encodeEntry({ ...made, kind: "user", content })
      : encodeEntry({
          ...made,
          kind: "assistant",
          model: "",
          chain: "",
          epoch: 0,
          blocks: content.flatMap((part) => (part.type === "text" ? [part] : [])),
          stop: "end",
        });
  const keep = keepMs(agent);
  return {
    v: 1,
    id: sessionId(owner, agent.name, conversation.id),
    minted: conversation.minted,
    turn,
    leaseSeconds: leaseSeconds(env),
    busy: agent.busy,
    wire: rendererOf(model.full, model.provider),
    chain: askedChain(model),
    user: encodeEntry({ ...made, kind: "user", content: user.content }),
    blobs: user.blobs,
    sent,
    // A conversation can only begin with what a user said.
    seed: fromFirstUser(seed).map(({ role, content }) => seeded(role, content)),
    clientSystem: agent.clientSystem === "accept" ? clientSystem : null,
    instructions: {
      text: typeof agent.instructions === "string" ? agent.instructions : null,
      revision: agent.revision,
    },
    rerun: rerunOf(agent),
    ...(agent.fallback.length > 0 ? { fallback: true } : {}),
    ...(keep === null ? {} : { keepMs: keep }),
    asked: askedText(request),
    ...(once === undefined ? {} : { once }),
    ...(request.task === undefined ? {} : { task: request.task }),
    ...(goOn ? { goOn } : {}),
    ...(sub === undefined ? {} : { parent: sub.parent }),
  };
}

/** What an isolate says to a session that gave a turn out. */
export function resumeRequest(agent: Agent, model: Model, turn: string, fence: number, attempt: string): ResumeRequest {
  const { full, provider } = model;
  const wire = rendererOf(full, provider);
  return {
    v: 1,
    turn,
    fence,
    attempt,
    wire,
    chain: askedChain(model),
    rerun: rerunOf(agent),
    fallback: agent.fallback.length > 0,
  };
}

/** Names of tools whose calls may run again where it is not known whether they ran. */
export function rerunOf(agent: Pick<Agent, "tools">): string[] {
  return [SEARCH_TOOL, ...agent.tools.filter((tool) => tool.idempotent).map((tool) => tool.spec.name)];
}

/** The start of the turn, or the error that the session's answer amounts to. */
export function started(answer: Exclude<BeginAnswer, { kind: "joined" }>): TurnStart {
  switch (answer.kind) {
    case "go":
      return answer;
    case "busy": {
      const { retryAfter } = answer;
      const message = "Another turn is running in this conversation.";
      throw new HoldfastError({ reason: "busy", retryAfter, message });
    }
    case "settled":
      throw new HoldfastError({ reason: "lost", message: "There is nothing to go on with, or it goes on elsewhere." });
    case "key_reused":
      throw new HoldfastError({
        reason: "key_reused",
        message: "This Idempotency-Key came with another request before. Use a new key for a new request.",
      });
    case "gone":
      throw new HoldfastError({ reason: "gone", message: "This conversation was deleted." });
    case "unavailable":
      throw new HoldfastError({
        reason: "unavailable",
        retryAfter: 5,
        message: "The store can't say right now whether this conversation exists. Try again.",
      });
  }
}

function fromFirstUser(seed: TurnRequest["seed"]): TurnRequest["seed"] {
  const first = seed.findIndex(({ role }) => role === "user");
  return first < 0 ? [] : seed.slice(first);
}
