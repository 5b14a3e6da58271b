import { crowd } from "../session/crowd.ts";

crowd(1_000, true);
