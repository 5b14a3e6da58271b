import { chainKey } from "../session/chain.ts";
import type { TurnStart } from "../session/contract.ts";
import type { Numbered } from "../values/entry.ts";
import { askedChain, cacheKey, sessionId } from "./begin.ts";
import { Conversation } from "./conversation.ts";
import type { StepDeps, TurnDeps } from "./deps.ts";
import { Journal, lost } from "./journal.ts";
import type { TurnRequest } from "./runtime.ts";
import { type Model, turnSettings } from "./settings.ts";
import type { Setup } from "./setup.ts";

/** A turn on one model: the conversation as its chain knows it, and what its requests are made with. */
export interface Line {
  readonly model: Model;
  /** The chain's name. */
  readonly key: string;
  readonly conversation: Conversation;
  readonly journal: Journal;
  readonly setup: Setup;
}

/** Puts a turn on a model, as `start` says its chain stands. */
export function lineOf(
  deps: Pick<StepDeps, "session" | "env" | "now" | "mintId" | "attach">,
  request: TurnRequest,
  start: TurnStart,
  model: Model,
): Line {
  const { agent, owner } = request;
  const { id } = request.conversation;
  const key = chainKey(askedChain(model), start.mode);
  const conversation = new Conversation(start, key, id);
  const setup: Setup = {
    agent,
    provider: model.provider,
    fullModel: model.full,
    model: model.name,
    facts: model.facts,
    cacheKey: cacheKey(sessionId(owner, agent.name, id)),
    settings: turnSettings(agent, model, request.settings),
    instructions: async () => {
      if (typeof agent.instructions === "string") return agent.instructions;
      return agent.instructions({ env: deps.env, owner, session: { id, agent: agent.name, mode: start.mode } });
    },
    whole: () => whole(deps, start.fence, conversation),
    // That a place can't be named is no reason for a turn to fail.
    marks: () => deps.session.marks(start.fence, key).catch(() => null),
    now: deps.now,
    mintId: deps.mintId,
  };
  return { model, key, conversation, journal: new Journal(deps.session, start, conversation, deps.attach), setup };
}

async function whole(
  { session }: Pick<TurnDeps, "session">,
  fence: number,
  conversation: Conversation,
): Promise<Numbered[]> {
  const context = await session.context(fence);
  if (context === null) throw lost();
  for (const blob of context.blobs) conversation.blobs.set(blob.hash, blob.base64);
  return conversation.withUnsaved(context.entries);
}
