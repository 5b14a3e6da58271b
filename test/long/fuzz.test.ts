import { fuzz } from "../fuzz/fuzz.ts";
import { SURFACES } from "../fuzz/surfaces.ts";

const seed = Date.now() % 1_000_000_000;

for (const surface of SURFACES) fuzz(surface, 10_000, seed);
