import { isCount, unknownOptions, unknownOptionsProblem } from "./options.ts";
import type { Compaction } from "./types.ts";

const OPTIONS = ["threshold", "keep", "model", "by"];

/** An agent's compaction, with what was left out. */
export function compactionOf(given: false | Partial<Omit<Compaction, "automatic">> = {}): Compaction {
  return { automatic: given !== false, threshold: 0.8, keep: null, model: null, by: "runtime", ...(given || {}) };
}

/** What is wrong with it, or null. */
export function compactionProblem({ automatic: _, ...options }: Compaction): string | null {
  const unknown = unknownOptions(options, OPTIONS);
  if (unknown.length > 0) return unknownOptionsProblem("compaction", unknown, OPTIONS);
  const { threshold, keep, model, by } = options;
  if (!(typeof threshold === "number" && threshold > 0 && threshold <= 1)) {
    return "compaction.threshold must be a number above 0, at most 1";
  }
  if (keep !== null && !isCount(keep, 0)) return "compaction.keep must be a whole number of tokens";
  if (model !== null && typeof model !== "function" && !/^[^/\s]+\/\S+$/.test(model)) {
    return `compaction.model ${JSON.stringify(model)} must be "provider/model" or a function`;
  }
  if (!["runtime", "provider"].includes(by)) return 'compaction.by must be "runtime" or "provider"';
  return null;
}
