import fc from "fast-check";
import { expect, test } from "vitest";
import { allPoints } from "../kill/points.ts";
import { killAt } from "../kill/suite.ts";
import { expectTable, textOf } from "../kill/table.ts";

test("a turn whose process is killed at any write, event or call is finished by another one: the table of the docs", async () => {
  const outcomes = await killAt(allPoints().map((point) => [point]));
  expect(outcomes.filter(({ end }) => end !== "finished").map(({ points }) => textOf(points))).toEqual([]);
  await expectTable(outcomes);
});

test("killed twice it is finished, killed three times it fails readably, and is valid in any case", async () => {
  const seed = Number(process.env.HOLDFAST_KILL_SEED ?? Date.now() % 1_000_000_000);
  console.log(`kills from seed ${seed}`);
  const point = fc.constantFrom(...allPoints());
  const lists = fc.sample(fc.array(point, { minLength: 2, maxLength: 3 }), { seed, numRuns: 80 });
  const outcomes = await killAt(lists);
  expect(outcomes.length).toBeGreaterThan(8);
  const wrong = outcomes.filter(({ points, end }) => end !== (points.length < 3 ? "finished" : "failed readably"));
  expect(wrong.map(({ points }) => textOf(points))).toEqual([]);
});
