import { ring } from "../property/ring.ts";

ring("the long run, part 2", 25_000, (Date.now() + 500_000_000) % 1_000_000_000);
