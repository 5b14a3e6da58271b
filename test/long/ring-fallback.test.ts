import { FALLBACK_KINDS, ring } from "../property/ring.ts";
import { fallbackHistory } from "../property/ring-histories.ts";

const options = { histories: fallbackHistory, kinds: FALLBACK_KINDS };
ring("the long run, with a second model", 10_000, Date.now() % 1_000_000_000, options);
