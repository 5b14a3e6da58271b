import { ring } from "./ring.ts";

// Two files, so that two processes share the histories. They are the same in each run, so that a change is to blame when
// one fails; `npm run test:long` draws others.
ring("part 1", Number(process.env.HOLDFAST_RING_RUNS ?? 600) / 2, 2026_11_30_1);
