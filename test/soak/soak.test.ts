import { expect, test } from "vitest";
import { soak } from "./soak.ts";

test("sessions that talk while everything around them fails send no invalid request and lose no answer", async () => {
  const report = await soak({ sessions: 200, seconds: 15, thinkMs: 30_000, killEveryMs: 4_000, seed: 20261130 });
  console.log(JSON.stringify({ ...report, invalid: report.invalid.length, lost: report.lost.length }));
  expect(report.invalid).toEqual([]);
  expect(report.lost).toEqual([]);
  expect(report.faulty).toBeGreaterThan(report.turns / 5);
  expect(report.kills).toBeGreaterThan(0);
}, 120_000);
