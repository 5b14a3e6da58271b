import { fuzz } from "./fuzz.ts";
import { SURFACES } from "./surfaces.ts";

// The same in each run, so that a change is to blame when one fails; `npm run test:long` draws others.
for (const surface of SURFACES) fuzz(surface, surface.fields.length < 2 ? 50 : 500, 2026_11_30);
