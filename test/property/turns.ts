import { toolCatalog } from "../../src/catalog/catalog.ts";
import type { SessionApi } from "../../src/session/contract.ts";
import { compactSession } from "../../src/turn/compact-session.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { runTurn } from "../../src/turn/run.ts";
import type { TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { TurnEventBody } from "../../src/values/turn-event.ts";
import type { Planned } from "./history.ts";
import { freshIsolate, type Isolate, LEASE_SECONDS, living } from "./isolate.ts";
import { ringProvider } from "./provider.ts";
import { runSub } from "./sub-session.ts";
import { canary } from "./tools.ts";
import { ENV, OWNER, type World } from "./world.ts";

/** Tools whose calls wait for an answer. */
const ASKING: ReadonlySet<string> = new Set(["ask", "submit_plan"]);

/** A turn as it is asked for: its message, and what the model answers in it. */
export interface AskedTurn extends Pick<Partial<TurnRequest>, "sent" | "clientSystem" | "goOn"> {
  readonly text: string;
  readonly answers: readonly Planned[];
  /** Its number in the history. */
  readonly index: number;
}

/** Runs a turn in an isolate of its own. Throws if it fails for another reason than the history's. */
export async function takeTurn(world: World, { text, answers, index, ...asked }: AskedTurn): Promise<void> {
  world.plan = [...answers];
  world.isolate = freshIsolate(text);
  const { agent, isolate } = world;
  class Tap extends Sink {
    override emit(event: TurnEventBody): void {
      hear(world, event);
      super.emit(event);
    }
  }
  const sink = new Tap("turn");
  const deps: TurnDeps = {
    runtime: { agents: [agent], provider: (name) => ringProvider(world, isolate, name) },
    env: ENV,
    session: sessionFor(world, isolate),
    quotas: null,
    sink,
    now: () => world.now,
    mintId: () => world.mint(),
    subSessions: {
      run: (request) => runSub(world, isolate, request),
      stop: async () => false,
      remove: async () => false,
    },
    log: () => {},
  };
  const conversation = { id: "ring", minted: true };
  const request: TurnRequest = {
    ...plainRequest({ agent, owner: OWNER, conversation, requestId: "ring" }, [{ type: "text", text }]),
    ...asked,
  };
  await runTurn(deps, request, `turn_${world.mint()}`);
  if (world.refusedForLength) {
    world.refusedForLength = false;
    world.here.checker.allow("rewind");
    world.here.expected.clear();
  }
  if (isolate.dead) world.now += LEASE_SECONDS * 1000 + 1;
  for await (const event of sink) {
    if (event.type === "failed" && !isolate.dead && event.failure.reason !== "provider") {
      throw new Error(
        `turn ${index} failed: ${event.failure.reason}: ${event.failure.detail ?? event.failure.message}`,
      );
    }
  }
}

/** Somebody asks for a compaction, which may fail as a turn may. */
export async function compactNow(world: World): Promise<void> {
  const { agent, findings, isolate } = world;
  const host = {
    runtime: { agents: [agent], provider: (name: string) => ringProvider(world, isolate, name) },
    sessions: () => sessionFor(world, isolate),
    log: () => {},
  };
  const asked = { agent, owner: OWNER, requestId: "ring", conversation: "ring" };
  findings.seen.add("compaction asked");
  try {
    await compactSession(host, ENV, { waitUntil: () => {} }, asked);
  } catch (error) {
    if (findings.failure !== null) return;
    if (!(error instanceof HoldfastError)) throw error;
    const { reason, message } = error.failure;
    if (!["provider", "busy", "lost"].includes(reason)) throw new Error(`a compaction failed: ${reason}: ${message}`);
  }
}

function sessionFor(world: World, isolate: Isolate): SessionApi {
  const { session, loaded } = world.here;
  return living(session, isolate, (mode) => {
    world.mode = mode;
    world.began ??= mode;
    // What a mode makes core needs no search there.
    for (const { spec } of toolCatalog(world.agent, mode).core) loaded.add(spec.name);
  });
}

/** Takes from an event of a turn what the checks need, and checks that a tool ran where its mode allows it. */
function hear({ agent, findings, isolate, mode }: World, event: TurnEventBody): void {
  if (event.type === "request") isolate.verdict = event.verdict;
  if (event.type !== "result") return;
  const { id, name, status, text } = event;
  if (text.includes("canary-")) isolate.said.push(canary(id));
  const allowed = toolCatalog(agent, mode).allowed(name);
  // What somebody was asked is answered in whatever mode they are in by then.
  if (!allowed && status === "ok" && !ASKING.has(name)) throw findings.broken(`${name} ran in the mode ${mode}`);
  // What another mode made core is declared from then on, and in this one nothing speaks for it.
  const core = Object.values(agent.modes).some(({ core = [] }) => core.includes(name));
  if (allowed && !core && isolate.loads.includes(name) && text.includes(" is not loaded."))
    throw findings.broken(`${name} is loaded and can't be called in the mode ${mode}`);
}
