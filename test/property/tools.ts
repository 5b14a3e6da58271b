import { createHash } from "node:crypto";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Tool } from "../../src/define/types.ts";
import { LATE, LAZY } from "./history.ts";

/** The name of a tool by its number in a history: lazy ones first, then those that come late. */
export function toolName(tool: number): string {
  return tool < LAZY ? `lazy_${tool}` : `late_${tool - LAZY}`;
}

/** The tools of each edition of the worker; they keep nothing between calls. */
export const EDITIONS = memo((edition: number) => ({
  core: [echo("note", edition)],
  lazy: lazy(Array.from({ length: LAZY }, (_, index) => echo(toolName(index), edition))),
  late: Array.from({ length: LATE }, (_, index) => echo(toolName(LAZY + index), edition)),
}));

/** A text that occurs only in the result of this call. */
export function canary(callId: string): string {
  return `canary-${createHash("sha256").update(callId).digest("hex").slice(0, 12)}`;
}

/** A tool that says its name and its canary. */
export function echo(name: string, edition: number): Tool {
  return defineTool({
    name,
    description: `Notes a text under ${name}.${edition === 0 ? "" : ` Edition ${edition}.`}`,
    risk: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: { text: { type: "string" }, ...(edition % 2 === 1 ? { volume: { type: "number" } } : {}) },
    },
    execute: (_, { callId }) => `Noted by ${name}. ${canary(callId)}`,
  });
}

/** The function, but each key is made once. */
export function memo<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}
