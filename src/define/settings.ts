import { isCount, unknownOptions, unknownOptionsProblem } from "./options.ts";
import type { Agent } from "./types.ts";

const OPTIONS = ["maxOutputTokens", "effort", "thinking", "parallelCalls", "cacheTtl"];

/** What is wrong with an agent's settings, or null. Whether a model takes them is its provider's matter. */
export function settingsProblem(settings: Agent["settings"]): string | null {
  const unknown = unknownOptions(settings, OPTIONS);
  if (unknown.length > 0) return unknownOptionsProblem("settings", unknown, OPTIONS);
  const { maxOutputTokens, effort, thinking, parallelCalls, cacheTtl } = settings;
  if (!isCount(maxOutputTokens, 1)) return "settings.maxOutputTokens must be a whole number above 0";
  if (effort !== undefined && !["low", "medium", "high"].includes(effort)) {
    return 'settings.effort must be "low", "medium" or "high"';
  }
  if (thinking !== undefined && typeof thinking !== "boolean" && !isCount(thinking, 1)) {
    return "settings.thinking must be true, false or a number of tokens above 0";
  }
  if (parallelCalls !== undefined && typeof parallelCalls !== "boolean") {
    return "settings.parallelCalls must be true or false";
  }
  if (cacheTtl !== undefined && !["5m", "1h"].includes(cacheTtl)) return 'settings.cacheTtl must be "5m" or "1h"';
  return null;
}
