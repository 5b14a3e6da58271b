import { defineConfig } from "vitest/config";

const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Date.now() % 1_000_000_000);

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/long/**"],
    sequence: { shuffle: true, seed },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
