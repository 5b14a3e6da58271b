import { defineConfig } from "vitest/config";

/** What is too large for `npm test`: `npm run test:long`. */
export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
