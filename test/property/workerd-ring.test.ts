import { expect, test } from "vitest";
import { workerdRing } from "./workerd-ring.ts";

const runs = Number(process.env.HOLDFAST_WORKERD_RING_RUNS ?? 60);
const FIRST = 2026_11_30;
const seed = Number(process.env.HOLDFAST_RING_SEED ?? FIRST);
const only = process.env.HOLDFAST_WORKERD_RING_ONLY;

/** What has to come up in so many histories of the first seed, lest the ring proves less than it says. */
const ENOUGH = 60;
const KINDS = [
  ...["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send"].map((fault) => `parked ${fault}`),
  ...["went on, done", "went on, failed", "interrupted"],
  ...["compaction asked", "compaction threshold", "compaction too_long"],
  ...["none", "calls", "dead_in_stream"].map((fault) => `summary ${fault}`),
  ...["rewind edited", "rewind regenerate", "rewind refused"],
  ...["clone warm", "fork warm", "fork cold", "clone in mid-turn", "fork in mid-turn", "deleted"],
  ...["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send"].map(
    (fault) => `parked sub ${fault}`,
  ),
];
/** What is to come up several times: in modes, plans, questions and sub-sessions. */
const SEVERAL = 5;
const OFTEN = [
  ...["mode agent", "mode plan", "mode careful", "mode refused", "plan mode entered", "a mode's refusal"],
  ...["plan approve", "plan deny", "plan approved", "pause answered", "pause settled", "pause closed"],
  ...["killed while paused", "parked dead_after_answer", "answered again", "went on with an answer"],
  ...["task done", "task joined again"],
];

test.concurrent.each([
  ["which goes on by itself", true, runs],
  ["which the next message goes on with", false, Math.ceil(runs / 5)],
])(
  "histories in workerd, killed in the midst of a turn %s: every request is valid and extends the last one",
  async (_, runner, count) => {
    const { failures, ...report } = await workerdRing(count, seed, { runner, only });
    console.log(`${count} histories, seed ${seed}: ${JSON.stringify(report)}`);
    expect(failures).toEqual([]);
    if (!runner || count < ENOUGH || seed !== FIRST || only !== undefined) return;
    expect(KINDS.filter((kind) => report.seen[kind] === undefined)).toEqual([]);
    expect(OFTEN.filter((kind) => (report.seen[kind] ?? 0) < SEVERAL)).toEqual([]);
  },
  300_000,
);
