import { fallbackHistory } from "../property/histories.ts";
import { FALLBACK_KINDS, ring } from "../property/ring.ts";

const options = { histories: fallbackHistory, kinds: FALLBACK_KINDS };
ring("the long run, with a second model", 10_000, Date.now() % 1_000_000_000, options);
