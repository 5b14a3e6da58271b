import { ring } from "../property/ring.ts";

ring("the long run, part 1", 25_000, Date.now() % 1_000_000_000);
