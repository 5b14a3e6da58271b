import { expect, test } from "vitest";
import { workerdRing } from "../property/workerd-ring.ts";

test("five times two hundred histories in workerd, one of them on a worker without `TurnRunner`", async () => {
  const first = Number(process.env.HOLDFAST_RING_SEED ?? Date.now() % 1_000_000_000);
  for (let run = 0; run < 5; run += 1) {
    const { failures, ...report } = await workerdRing(200, first + run, { runner: run < 4 });
    console.log(`200 histories, seed ${first + run}: ${JSON.stringify(report)}`);
    expect(failures).toEqual([]);
  }
}, 2_400_000);
