import fc from "fast-check";
import { expect, test } from "vitest";
import { FAULTS, type History, LEAVINGS, MODELS, RING_MODES, SUMMARY_FAULTS, TASK_EVENTS } from "./history.ts";
import { playHistory } from "./journey.ts";
import { ringHistory } from "./ring-histories.ts";

/** What has to come up in at least two of a hundred histories, lest a ring proves less than it says. */
const KINDS = [
  ...["add", "remove", "edit", "shuffle", "renderer", "instructions", "revise", "model"].map(
    (kind) => `deploy ${kind}`,
  ),
  ...["message", "again", "regenerate", "edit"].map((kind) => `client ${kind}`),
  ...["search", "mixed_search", "empty_search", "use", "note", "fail", "unknown", "install", "odd_input"].map(
    (kind) => `call ${kind}`,
  ),
  ...FAULTS.map((kind) => `fault ${kind}`),
  ...["attach", "before", "after"].map((place) => `host search ${place}`),
  ...["asked", "threshold", "too_long", "provider"].map((why) => `compaction ${why}`),
  ...SUMMARY_FAULTS.map((fault) => `summary ${fault}`),
  "instructions changed",
  ...["compaction", "rewind", "renderer", "revoked", "model", "late_inline", "fork_reset", "mode"].map(
    (cause) => `break ${cause}`,
  ),
  ...MODELS.map((model) => `model ${model}`),
  ...["clone", "fork", "switch", "delete"].map((kind) => `session ${kind}`),
  ...RING_MODES.map((mode) => `mode ${mode}`),
  ...["forbidden", "enter_plan", "submit_plan", "ask", "transfer"].map((kind) => `call ${kind}`),
  ...[
    "pause",
    "pause answered",
    "plan approve",
    "plan deny",
    "switch to plan",
    "switch to agent",
    "denied",
    "sub-session",
  ],
  ...LEAVINGS.map((fault) => `fault ${fault}`),
  ...[
    ...["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send", "dead_before_calls"],
    ...["dead_after_compaction", "dead_in_task", "handed"],
  ].map((how) => `taken up ${how}`),
  ...["parent", "subs", "at_once"].map((order) => `taken up, first ${order}`),
  ...["call run again", "call given up", "result kept", "given up", "given out in vain", "background"],
  ...["stopped while nobody runs it", "deleted while nobody runs it", "deploy before it is taken up"],
  ...TASK_EVENTS.map((what) => `task ${what}`),
  ...["tasks side by side", "task below", "event below", "task run again", "sub-session taken up"],
  ...["sub-session without its turn", "deleted with sub-sessions", "deleted with sub-sessions, but for copies"],
  ...["clone in mid-turn", "fork in mid-turn", "copy warm", "copy cold"],
  ...[
    "thinking",
    "companion",
    "references",
    "search output",
    "additional tools",
    "bridged call",
    "trigger none",
    "other API",
    "batch that failed",
    "wide batch",
    "client system",
  ],
];

const LEAST_SHARE = 0.02;

/** What takes several things at once. */
const RARE_ENDS = {
  ...{
    "given up": 0.0075,
    "given out in vain": 0.0075,
    "task deleted": 0.0075,
    "taken up dead_after_compaction": 0.0075,
  },
  ...{ "task below": 0.01 },
};

/**
 * What comes up on one of thirteen models only, and there in half of the histories at best, or in small windows of five
 * of them: a share of its own.
 */
const RARE: Readonly<Record<string, number>> = {
  ...{ "bridged call": 0.005, "trigger none": 0.005 },
  ...RARE_ENDS,
};

/** How many requests a history makes: the bounds, and what half of them reach. */
const REQUESTS = { least: 5, most: 70, half: 15 };

/** What has to come up on an agent with a second model. */
export const FALLBACK_KINDS = ["fallback", "other API", "fault refused", ...MODELS.map((model) => `model ${model}`)];

export interface RingOptions {
  readonly histories?: fc.Arbitrary<History>;
  readonly kinds?: readonly string[];
}

/**
 * Ring (a): `runs` histories in one process. `HOLDFAST_RING_SEED` and `HOLDFAST_RING_PATH` (both printed on failure)
 * replay one alone.
 */
export function ring(name: string, runs: number, first: number, options: RingOptions = {}): void {
  const { histories = ringHistory, kinds = KINDS } = options;
  const seed = Number(process.env.HOLDFAST_RING_SEED ?? first);
  const path = process.env.HOLDFAST_RING_PATH;

  test(`any history in one process, ${name}: every request is valid and extends the last one`, async () => {
    console.log(`${name}: ${runs} histories from seed ${seed}`);
    const counts = new Map<string, number>(kinds.map((kind) => [kind, 0]));
    const sizes: number[] = [];
    const property = fc.asyncProperty(histories, async (drawn) => {
      const { failure, requests, seen } = await playHistory(drawn);
      if (failure !== null) throw failure;
      sizes.push(requests);
      for (const kind of seen) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    });
    const details = await fc.check(property, {
      numRuns: runs,
      seed,
      endOnFailure: process.env.HOLDFAST_RING_QUICK !== undefined,
      ...(path === undefined ? {} : { path }),
    });
    const why = details.errorInstance instanceof Error ? details.errorInstance.message : "";
    expect(details.failed, `${why}\n${fc.defaultReportMessage(details)}`).toBe(false);

    const requests = sizes.reduce((sum, size) => sum + size, 0);
    const shown = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([kind, count]) => `${kind} ${count}`);
    console.log(`${runs} histories, ${requests} requests, seed ${seed}: ${shown.join(", ")}`);
    if (path !== undefined) return;
    expect(kinds.filter((kind) => (counts.get(kind) ?? 0) < runs * (RARE[kind] ?? LEAST_SHARE))).toEqual([]);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(REQUESTS.least);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(REQUESTS.most);
    expect(sizes.filter((size) => size >= REQUESTS.half).length / runs).toBeGreaterThan(0.45);
  }, 2_400_000);
}
