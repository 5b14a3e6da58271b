import { FALLBACK_KINDS, ring } from "./ring.ts";
import { fallbackHistory } from "./ring-histories.ts";

const runs = Number(process.env.HOLDFAST_RING_RUNS ?? 200);
ring("with a second model", runs, 2026_11_30_3, { histories: fallbackHistory, kinds: FALLBACK_KINDS });
