import { defineConfig } from "vitest/config";

/** Replays an order: `HOLDFAST_TEST_SEED=123 npm test`. The run prints the seed it used. */
const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Date.now() % 1_000_000_000);
if (!Number.isSafeInteger(seed)) throw new Error("HOLDFAST_TEST_SEED must be an integer.");

/** Where `.ci/run` wants the counts of the run, as JSON. */
const report = process.env.HOLDFAST_TEST_REPORT;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/long/**"],
    sequence: { shuffle: { files: true, tests: true }, seed },
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    // Processes, because tests start and kill workerd; two, because each of them has a workerd of its own beside it.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
