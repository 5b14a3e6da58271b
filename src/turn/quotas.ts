import type { Quotas } from "../define/quotas.ts";
import { admit, exceeded, release, used } from "../session/admission.ts";
import type { BeginAnswer, BeginRequest, RepeatAnswer, SessionId } from "../session/contract.ts";
import { type Failure, HoldfastError } from "../values/errors.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnHost } from "./start.ts";
import { within } from "./within.ts";

/** Longer than this no turn waits for D1, and none that is refused for its session. */
const D1_MS = 1_000;

/** A turn counts for this long where its agent sets no limit, and beyond its limit for the time to wind it up. */
const UNLIMITED_MS = 3_600_000;
const WIND_UP_MS = 60_000;

/**
 * Begins a turn if its owner is within the quotas, which costs one statement of D1; without quotas nothing. `seconds` is
 * how long the turn may take. Throws `quota`, before anything is stored; a request that asks again for a turn joins it
 * whatever is used up. While D1 is down or slow every turn begins.
 */
export async function beginWithin(
  { quotas, env, session, now, log }: Pick<TurnDeps, "quotas" | "env" | "session" | "now" | "log">,
  request: BeginRequest,
  seconds: number | false,
): Promise<BeginAnswer> {
  if (quotas === null) return session.begin(request);
  const { id, turn } = request;
  const at = now();
  const until = at + (seconds === false ? UNLIMITED_MS : seconds * 1_000 + WIND_UP_MS);
  const admission = await within(D1_MS, () => admit(env.DB, quotas, { id, turn, now: at, until }));
  if (!admission.ok) log("quotas not checked", { level: "warn", turn, why: admission.why });
  else if (admission.value !== null) {
    const repeat = await repeated(session, request);
    if (repeat !== null) return repeat;
    throw new HoldfastError(refusal(quotas, admission.value, at));
  }
  const answer = await session.begin({ ...request, admitted: true });
  if (answer.kind !== "go") {
    const released = await within(D1_MS, () => release(env.DB, id.owner, [turn], at).run());
    // It then counts until its time is over.
    if (!released.ok) log("turn not released", { level: "warn", turn, why: released.why });
  }
  return answer;
}

/** The answer to a repeat, which costs nothing; null for any other request, and where its session can't say. */
async function repeated(
  session: TurnDeps["session"],
  { v, id, minted, turn, once }: BeginRequest,
): Promise<RepeatAnswer | null> {
  if (once === undefined || (once.key === null && !once.repeated)) return null;
  const answer = await within(D1_MS, () => session.repeat({ v, id, minted, turn, once }));
  return answer.ok ? answer.value : null;
}

/** Throws what {@link usedUp} answers. */
export async function checkQuotas(...asked: Parameters<typeof usedUp>): Promise<void> {
  const refused = await usedUp(...asked);
  if (refused !== null) throw refused;
}

/**
 * The failure `quota` where the owner of a session has used up one of those named, else null: before a session is made, or
 * a model asked, without a turn. Costs one statement of D1, without quotas nothing.
 */
export async function usedUp(
  { quotas = null, log }: Pick<TurnHost, "quotas" | "log">,
  env: Cloudflare.Env,
  id: SessionId,
  named: readonly (keyof Quotas)[],
  now: number,
): Promise<HoldfastError | null> {
  if (quotas === null) return null;
  const figures = await within(D1_MS, () => used(env.DB, id, now));
  if (!figures.ok) {
    log("quotas not checked", { level: "warn", why: figures.why });
    return null;
  }
  const none: Quotas = { turns: false, sessions: false, bytes: false, tokensPerDay: false };
  for (const name of named) {
    const quota = exceeded(figures.value, { ...none, [name]: quotas[name] });
    if (quota !== null) return new HoldfastError(refusal(quotas, quota, now));
  }
  return null;
}

/** Nothing is freed by itself: an owner has to delete something first. */
const STORED_RETRY_SECONDS = 3_600;

function refusal(quotas: Quotas, quota: keyof Quotas, now: number): Failure {
  const of = (what: string) => `the quota of ${quotas[quota]} ${what}`;
  const refused = (message: string, retryAfter: number): Failure => ({ reason: "quota", quota, retryAfter, message });
  switch (quota) {
    case "turns":
      return refused(`Too many turns are running: ${of("at once")} is used up. Try again when one has ended.`, 1);
    case "sessions":
      return refused(`No further conversation: ${of("of them")} is used up. Delete some.`, STORED_RETRY_SECONDS);
    case "bytes":
      return refused(`Too much is stored: ${of("bytes")} is used up. Delete conversations.`, STORED_RETRY_SECONDS);
    case "tokensPerDay":
      return refused(`${of("tokens a day")} is used up. It begins anew at midnight UTC.`, secondsToMidnight(now));
  }
}

function secondsToMidnight(now: number): number {
  const day = 86_400_000;
  return Math.ceil((day - (now % day)) / 1_000);
}
