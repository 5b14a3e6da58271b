import { expect, test } from "vitest";
import { allPoints } from "./points.ts";
import { killAt } from "./suite.ts";
import { expectRows } from "./table.ts";

/** One in so many points; `npm run test:long` has them all. */
const SAMPLE = 6;

test("a turn whose process is killed at a write, an event or a call is finished by another one, as the docs say", async () => {
  const outcomes = await killAt(
    allPoints()
      .filter((_, index) => index % SAMPLE === 2)
      .map((point) => [point]),
  );
  expect(outcomes.length).toBeGreaterThan(8);
  await expectRows(outcomes);
}, 120_000);
