import { expect, test } from "vitest";
import { workerdRing } from "../property/workerd-ring.ts";

test("ten times two hundred histories in workerd", async () => {
  const first = Number(process.env.HOLDFAST_RING_SEED ?? Date.now() % 1_000_000_000);
  for (let run = 0; run < 10; run += 1) {
    const { failures, ...report } = await workerdRing(200, first + run);
    console.log(`200 histories, seed ${first + run}: ${JSON.stringify(report)}`);
    expect(failures).toEqual([]);
  }
}, 1_200_000);
