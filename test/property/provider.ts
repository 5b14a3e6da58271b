import type { ModelEvent, Provider } from "../../src/providers/contract.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { Verdict } from "../../src/values/turn-event.ts";
import { copySession } from "./copies.ts";
import { modelOf } from "./deployment.ts";
import type { Fault, Handed, Planned } from "./history.ts";
import { type Isolate, kill } from "./isolate.ts";
import { chainOf } from "./mode-rules.ts";
import { messagesOf } from "./place.ts";
import { play, summaryAsked } from "./player.ts";
import { checkRequest } from "./request-checks.ts";
import { answerSummary, compacted, TRIGGER } from "./summaries.ts";
import { newTask } from "./task.ts";
import { leaves } from "./task-events.ts";
import { apiNamed, modelIn, released, WIRES, type WireName, windowed } from "./wires.ts";
import type { World } from "./world.ts";

const INVALID = { reason: "provider", status: 400, type: "invalid_request_error" } as const;

/** The provider of that name as the isolate of a turn or a compaction reaches it: every request is checked as it goes out. */
export function ringProvider(world: World, isolate: Isolate, name: string): Provider | undefined {
  const api = apiNamed(name);
  if (api === undefined) return undefined;
  const own = released(WIRES[api].provider, () => world.deployment.renderer);
  return {
    ...windowed(own, () => world.history.window),
    stream: (_, body, { signal }) =>
      summaryAsked(body) !== null || body.includes(TRIGGER)
        ? answerSummary(world, isolate, api, body)
        : answer(world, isolate, api, body, signal),
  };
}

async function* answer(
  world: World,
  isolate: Isolate,
  api: WireName,
  body: string,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { findings, history } = world;
  const planned = world.plan.shift() ?? null;
  for (const { kind } of planned?.calls ?? []) findings.seen.add(`call ${kind}`);
  const fault = planned?.fault ?? null;
  world.requireLoud();
  if (isolate.dies === "at_request" || fault === "dead_before_send") {
    world.here.checker.unsent(chainOf(modelIn(api, body), world.mode));
    kill(isolate, isolate.dies === "at_request" ? "dead_after_compaction" : "dead_before_send", findings);
  }
  isolate.dies = fault === "dead_before_calls" ? "at_answer" : null;
  isolate.inTool = fault === "handed_in_tool" ? fault : "dead_in_tool";
  findings.requests += 1;
  const met = world.meet(api, body);
  requireSaid(world, isolate, body);
  isolate.message ??= (await messagesOf(world.here)) - 1;
  const model = modelIn(api, body);
  if (model !== modelOf(history.model, world.deployment)) findings.seen.add("fallback");
  checkRequest(world, { met, model, body }, isolate.verdict, isolate.message);
  if (met.kind === "refused") return;
  note(world, body, isolate.verdict);
  await copyMeanwhile(world, planned);
  failAtOnce(world, isolate, fault);
  const words = (one: { tool: number } & Partial<Handed>) => newTask(world, one.tool, one).text;
  const compacts = planned?.compacts ? met.compacted : undefined;
  const answered = compacts?.() ?? met.answer(play("ring", history, planned, met.visible, findings.requests, words));
  world.here.checker.begun(fault !== "dead_in_stream", world.now);
  const broken = fault === "cut" || fault === "dead_in_stream";
  if (fault === "cut") findings.seen.add("fault cut");
  const until = broken ? 1 + (findings.requests % Math.max(1, answered.length - 2)) : answered.length;
  try {
    if (fault === "handed_between") {
      findings.seen.add(`fault ${fault}`);
      // The next request is made ready with the results, and is another isolate's to send.
      world.here.checker.unsent(chainOf(model, world.mode));
      world.client.abort();
    }
    let before = findings.requests % 3;
    for await (const event of answered.read(until)) {
      yield event;
      if (fault !== "handed_in_stream" || before-- !== 0) continue;
      findings.seen.add(`fault ${fault}`);
      await leaves(world);
      if (signal.aborted) throw signal.reason;
    }
  } finally {
    if (fault === "dead_in_stream") kill(isolate, fault, findings);
  }
  if (compacts !== undefined && !broken) compacted(world, isolate);
}

/** What tools said stands in every request, and the message that is answered in each of its turn. */
function requireSaid({ findings, here: { expected } }: World, { asked }: Isolate, body: string): void {
  if (!body.includes(asked)) throw findings.broken("a request lacks the message that it answers");
  const missing = [...expected].filter((one) => !body.includes(one));
  if (missing.length > 0) throw findings.broken(`what a tool said is missing: ${missing.join(", ")}`);
}

async function copyMeanwhile(world: World, planned: Planned | null): Promise<void> {
  if (!planned?.copied) return;
  world.findings.seen.add(`${planned.copied.kind} in mid-turn`);
  await copySession(world, planned.copied);
}

/** The faults that leave no answer. */
function failAtOnce(world: World, isolate: Isolate, fault: Fault | null): void {
  const { findings, here } = world;
  switch (fault) {
    case "dead_before_headers":
      kill(isolate, fault, findings);
      break;
    case "refused":
      findings.seen.add("fault refused");
      throw new HoldfastError({ reason: "provider", status: 500, type: "api_error", message: "Broken." });
    case "too_long":
      findings.seen.add("fault too_long");
      // If no shorter context comes of it, it is taken back as anything that the provider refuses.
      world.refusedForLength = true;
      throw new HoldfastError({ ...INVALID, message: "prompt is too long: 210000 tokens > 200000 maximum" });
    case "rejected":
      findings.seen.add("fault rejected");
      here.checker.allow("rewind");
      here.expected.clear();
      throw new HoldfastError({ ...INVALID, message: "messages.0: image is too large" });
    default:
  }
}

function note({ findings: { seen } }: World, body: string, verdict: Verdict): void {
  if (verdict.prefix === "break") seen.add(`break ${verdict.cause}`);
  if (body.includes('"hfl_')) seen.add("companion");
  if (body.includes("tool_reference")) seen.add("references");
  if (body.includes('"tool_search_output"')) seen.add("search output");
  if (body.includes('"name":"call_tool","arguments":"{')) seen.add("bridged call");
  if (body.includes('"additional_tools"')) seen.add("additional tools");
}
