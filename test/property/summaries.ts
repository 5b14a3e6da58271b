import type { ModelEvent } from "../../src/providers/contract.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import { type Isolate, kill } from "./isolate.ts";
import { playSummary, summaryAsked } from "./player.ts";
import { checkSummary } from "./request-checks.ts";
import { modelIn, type WireName } from "./wires.ts";
import type { World } from "./world.ts";

/** What has OpenAI compact a context, as the last item of a request. */
export const TRIGGER = '{"type":"compaction_trigger"}]}';

/** Answers a request for a summary, or for a compaction by the provider, as the history plans it. */
export async function* answerSummary(
  world: World,
  isolate: Isolate,
  api: WireName,
  body: string,
): AsyncGenerator<ModelEvent> {
  const { findings } = world;
  world.requireLoud();
  const model = modelIn(api, body);
  findings.requests += 1;
  const met = world.meet(api, body);
  const again = summaryAsked(body) === "again";
  checkSummary(world, { met, model, body }, again);
  if (met.kind === "refused") return;
  const fault = again ? "none" : (world.summaries.shift() ?? "none");
  findings.seen.add(`summary ${fault}`);
  if (fault === "refused")
    throw new HoldfastError({
      reason: "provider",
      status: 500,
      type: "invalid_request_error",
      message: "Broken.",
    });
  const trigger = body.includes(TRIGGER);
  if (trigger) findings.seen.add(`trigger ${fault}`);
  const answered = trigger && met.compacted ? met.compacted() : met.answer(playSummary(fault, findings.requests));
  const until = fault === "cut" || fault === "dead_in_stream" ? 3 : answered.length;
  try {
    yield* answered.read(Math.min(until, answered.length));
  } finally {
    if (fault === "dead_in_stream") kill(isolate, fault, findings);
  }
  if (fault === "none" || fault === "dead_after") compacted(world, isolate);
  if (fault === "dead_after") isolate.dies = "at_request";
}

/** The context was compacted: the next request of each chain begins anew. */
export function compacted(world: World, isolate: Isolate): void {
  const { here } = world;
  here.checker.allow("compaction");
  here.fresh = true;
  world.refusedForLength = false;
  // What tools said may be part of the summary now.
  here.expected.clear();
  isolate.said = [];
}
