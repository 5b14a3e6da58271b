import fc from "fast-check";
import { expect, test } from "vitest";
import { type History, history } from "./history.ts";
import { World } from "./world.ts";

const RUNS = Number(process.env.HOLDFAST_RING_RUNS ?? 5_000);
const SEED = Number(process.env.HOLDFAST_RING_SEED ?? Date.now() % 1_000_000_000);

test("any history, in one process: every request is valid and extends the last one", async () => {
  const counts = new Map<string, number>();
  let requests = 0;
  let histories = 0;
  const property = fc.asyncProperty(history, async (drawn: History) => {
    const world = new World(drawn);
    await world.play();
    if (world.failure !== null) throw world.failure;
    histories += 1;
    requests += world.requests;
    for (const kind of world.seen) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  const path = process.env.HOLDFAST_RING_PATH;
  const details = await fc.check(property, { numRuns: RUNS, seed: SEED, ...(path === undefined ? {} : { path }) });
  console.log(
    `ring: ${histories} histories, ${requests} requests, seed ${SEED}`,
    Object.fromEntries([...counts].sort()),
  );
  const why = details.errorInstance instanceof Error ? details.errorInstance.message : "";
  expect(details.failed, `${why}\n${fc.defaultReportMessage(details)}`).toBe(false);
}, 120_000);
