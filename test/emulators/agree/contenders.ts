import { anthropicContender } from "../anthropic/agree.ts";
import { openaiContender } from "../openai/agree.ts";
import type { Contender } from "./verdict.ts";

/** The emulators that recordings can be replayed through, one a provider. */
export const contenders: readonly Contender[] = [anthropicContender, openaiContender];
