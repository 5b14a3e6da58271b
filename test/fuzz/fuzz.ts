import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Drawn, drawn } from "./drawn.ts";
import { fuzzed } from "./fuzzed.ts";
import { hostile, type Sent } from "./request.ts";
import { KNOWN, type Surface, validRequests } from "./surfaces.ts";
import { firstStored, World } from "./world.ts";

/** What of the cases has to come up, so that a run can't pass by refusing or taking all of them. */
const LEAST_SHARE = 0.05;

/**
 * Hostile requests to one surface, in process. None is answered by a 5xx, none that is refused stores anything, and
 * after one that is taken the conversation goes on. `HOLDFAST_FUZZ_SEED` and `HOLDFAST_FUZZ_PATH` replay one alone.
 */
export function fuzz(surface: Surface, runs: number, first: number): void {
  const seed = Number(process.env.HOLDFAST_FUZZ_SEED ?? first);
  const path = process.env.HOLDFAST_FUZZ_PATH;

  test(`${surface.name}: ${runs} hostile requests give no 5xx, and what is refused stores nothing`, async () => {
    console.log(`${surface.name}: ${runs} hostile requests from seed ${seed}`);
    silence();
    const stored = await firstStored();
    const worker = fuzzed();
    let world = new World(stored, worker);
    const before = world.rows();
    const valid = validRequests(surface, world.routes, stored);
    for (const request of valid) await expectNoFault(new World(stored), hostile(request, [], null));
    const counts = { refused: 0, taken: 0 };

    const property = fc.asyncProperty(drawn(valid, surface.fields), async (case_) => {
      const request = valid[case_.valid % valid.length];
      if (request === undefined) throw new Error("there is no valid request");
      const sent = hostile(request, case_.changes, case_.raw);
      try {
        if (await plays(world, before, sent, counts)) return;
        world = new World(stored, worker);
      } catch (error) {
        // What follows stands on a world of its own, so that only what fails by itself is the smallest case.
        world = new World(stored, worker);
        throw error;
      }
    });
    const details = await fc.check(property, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
    vi.restoreAllMocks();
    const why = details.errorInstance instanceof Error ? details.errorInstance.message : "";
    expect(details.failed, `${why}\n${shown(details, valid)}\n${fc.defaultReportMessage(details)}`).toBe(false);
    console.log(`${surface.name}: ${counts.refused} refused, ${counts.taken} taken, seed ${seed}`);
    if (path !== undefined || surface.fields.length < 2) return;
    expect(Math.min(counts.refused, counts.taken)).toBeGreaterThan(runs * LEAST_SHARE);
  }, 1_200_000);
}

/** Sends one request. Throws where something is wrong; answers whether the world is as it was. */
async function plays(world: World, before: string, sent: Sent, counts: Record<"refused" | "taken", number>) {
  const answer = await expectNoFault(world, sent);
  if (answer === null) return true;
  const { status, text } = answer;
  const reads = status >= 400 || ["GET", "HEAD", "OPTIONS"].includes(sent.method);
  counts[status >= 400 ? "refused" : "taken"] += 1;
  if (reads) await world.settled();
  if (!world.touched) return true;
  const after = world.rows();
  if (after === before) return true;
  if (reads) throw new Error(`${sent.method} ${status}, and something was stored: ${difference(before, after)}`);
  await expectGoesOn(world, KNOWN);
  const [, made] = /^\{"id":"([^"]+)"/.exec(text) ?? [];
  if (made !== undefined && made !== KNOWN) await expectGoesOn(world, made);
  return false;
}

/** What the worker logged as errors, which says more than its answer. */
const logged: string[] = [];

/** Keeps the worker's log, thousands of lines, out of the test's output. */
export function silence(): void {
  for (const level of ["log", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation((line) => logged.push(String(line)));
  onTestFinished(() => void vi.restoreAllMocks());
}

const RPC_ERROR = /"jsonrpc":"2\.0","id":[^,]*,"error":/;

/** What a surface says of a failure that is not the client's; the model of the fuzz never fails by itself. */
const FAULTS = /"(server_error|provider_error)"|went wrong inside the runtime|TASK_STATE_FAILED|"state":"failed"/;

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Reads the answer to its end. Throws where that is a fault of ours; answers what came, null for what can't be sent. */
export async function answerOf(sent: Sent, answer: Promise<Response>): Promise<Answered | null> {
  const response = await answer.catch((thrown: unknown) => {
    // What no client can send is none of our cases: a method or a header that a Request can't have.
    if (thrown instanceof TypeError && /Request|Headers|HTTP|URL|fetch failed/.test(thrown.message)) return null;
    throw thrown;
  });
  if (response === null) return null;
  const text = await response.text();
  // JSON-RPC says what is wrong under a status of 200.
  const status = response.status === 200 && RPC_ERROR.test(text) ? 400 : response.status;
  if (status >= 500 || FAULTS.test(text)) {
    throw new Error(`${status}: ${text.slice(0, 500)} ${logged.splice(0).at(-1) ?? ""}`);
  }
  if (status >= 400 && sent.method !== "HEAD" && !/"message":\s*"[^"]/.test(text)) {
    throw new Error(`${status} says nothing: ${text.slice(0, 200)}`);
  }
  return { status, text };
}

function expectNoFault(world: World, sent: Sent): Promise<Answered | null> {
  return answerOf(sent, world.fetch(sent));
}

/** A plain message is answered, and all that can be read of the conversation is read. */
async function expectGoesOn(world: World, id: string): Promise<void> {
  const path = `/api/sessions/${id}`;
  const headers = { "content-type": "application/json", "x-conversation-id": id };
  const body = JSON.stringify({ messages: [{ role: "user", content: "go on" }] });
  const said = await expectNoFault(world, { method: "POST", path: "/v1/chat/completions", headers, body });
  if (said?.status !== 200 && said?.status !== 410) throw new Error(`the conversation does not go on: ${said?.status}`);
  for (const rest of ["", "/entries", "/ledger", "/export", "/stream"]) {
    await expectNoFault(world, { method: "GET", path: `${path}${rest}`, headers: {}, body: null });
  }
}

function difference(before: string, after: string): string {
  let at = 0;
  while (before[at] === after[at]) at += 1;
  return `…${after.slice(Math.max(0, at - 200), at + 200)}…`;
}

/** The smallest failing request as it was sent. */
function shown(details: fc.RunDetails<[Drawn]>, valid: ReturnType<typeof validRequests>): string {
  const [case_] = details.counterexample ?? [];
  const request = case_ === undefined ? undefined : valid[case_.valid % valid.length];
  if (case_ === undefined || request === undefined) return "";
  const sent = hostile(request, case_.changes, case_.raw);
  return JSON.stringify({ ...sent, body: String(sent.body).slice(0, 2_000) });
}
