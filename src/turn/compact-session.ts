import { isFinalAnswer } from "../context/effective.ts";
import { encodeEntry, type Numbered } from "../values/entry.ts";
import { HoldfastError } from "../values/errors.ts";
import { askedChain, sessionId } from "./begin.ts";
import { compact } from "./compact.ts";
import { lineOf } from "./line.ts";
import { observer } from "./observe.ts";
import { plainRequest } from "./plain-request.ts";
import { checkQuotas } from "./quotas.ts";
import type { TurnRequest } from "./runtime.ts";
import { resolveModels, summaryModel } from "./settings.ts";
import { hex, type TurnHost } from "./start.ts";

/** Whose session is to be compacted. */
export type CompactionAsked = Pick<TurnRequest, "agent" | "owner" | "requestId"> & { readonly conversation: string };

/**
 * Compacts a session in which no turn runs. It takes no lease: a turn that begins meanwhile goes first, and the
 * compaction comes to nothing. Answers whether there was anything to leave out, null when there is no such session.
 * Throws `busy` when a turn runs or began, `provider` when the model gave no summary: then nothing has changed.
 */
export async function compactSession(
  host: TurnHost,
  env: Cloudflare.Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  { agent, owner, conversation: id, requestId }: CompactionAsked,
): Promise<{ readonly compacted: boolean } | null> {
  const [model] = resolveModels(host.runtime, agent, env);
  const name = sessionId(owner, agent.name, id);
  const session = host.sessions(env, name);
  const start = await session.snapshot({ v: 1, chain: askedChain(model) });
  if (start === null) return null;
  if (start.kind === "busy") throw busy(start.retryAfter);
  if (start.kind === "paused") throw busy(60, "This conversation waits for an answer.");
  await checkQuotas(host, env, name, ["tokensPerDay"], Date.now());
  const request = plainRequest({ agent, owner, conversation: { id, minted: false }, requestId }, []);
  const turn = `compaction_${hex(16)}`;
  // Nobody follows a compaction.
  const deps = { session, env, now: Date.now, mintId: () => hex(12), attach: () => {} };
  const { setup, conversation } = lineOf(deps, request, { ...start, turn }, model);
  const whole = await setup.whole();
  const observe = observer(host.hooks ?? {}, { env, ctx }, request, hex, host.log);
  const done = await compact({
    ...{ setup, conversation, whole, asked: unanswered(whole, start.userSeq), why: "asked" },
    model: summaryModel(host.runtime, agent, env, model),
    ask: { env, signal: new AbortController().signal, now: Date.now, observe, step: 0 },
  });
  if (done === null) return { compacted: false };
  const { summary, entry } = done;
  if (entry !== null) conversation.compact(entry, whole, null);
  const answer = await session.compact({
    ...{ v: 1, fence: start.fence, lastSeq: start.lastSeq, turn: conversation.turn, calls: summary.calls },
    entry: entry === null ? null : encodeEntry(entry),
  });
  if (summary.text === null) throw new HoldfastError(summary.failure);
  if (answer.kind === "lost") throw busy(1);
  return { compacted: true };
}

/** The newest message where it has no answer: asked again it must be there. */
function unanswered(whole: readonly Numbered[], newest: number): number | null {
  const last = whole.at(-1);
  const broken = last?.entry.kind === "assistant" && last.entry.stop === "cut";
  return last === undefined || (isFinalAnswer(last) && !broken) ? null : newest;
}

function busy(retryAfter: number, message = "A turn is running in this conversation."): HoldfastError {
  return new HoldfastError({ reason: "busy", retryAfter, message });
}
