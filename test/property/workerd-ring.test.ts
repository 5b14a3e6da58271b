import { expect, test } from "vitest";
import { workerdRing } from "./workerd-ring.ts";

test("histories in workerd, killed in every round: every request is valid and extends the last one", async () => {
  const count = Number(process.env.HOLDFAST_WORKERD_RING_RUNS ?? 120);
  const seed = Number(process.env.HOLDFAST_RING_SEED ?? 2026_11_30);
  const { failures, ...report } = await workerdRing(count, seed);
  console.log(`${count} histories, seed ${seed}: ${JSON.stringify(report)}`);
  expect(failures).toEqual([]);
  expect(Object.values(report.parked).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(report.turns / 8);
}, 300_000);
