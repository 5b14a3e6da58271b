import type { RecordedRequest } from "../../test/emulators/anthropic/index.ts";
import { percent, type Target, table, thousands } from "../lib/markdown.ts";
import type { Copied } from "./holdfast.ts";

/** A fork that keeps its load points reads at least this share of what its original had in the cache. */
const LEAST = 0.98;

/** The first requests of clones and forks, the one that loses its load points beside the others. */
export function copiesTable(copies: readonly Copied[]): string {
  const rows = copies.map(({ agent, at, before, first, prefix }) => [
    `${agent === "plain" ? "`claude-sonnet-5`" : "`claude-sonnet-5-5`"}, ${at === null ? "clone" : `fork before message ${at}`}`,
    prefix.replace("break; cause=", "break: "),
    thousands(cached(before)),
    thousands(read(first)),
    percent(read(first) / cached(before)),
  ]);
  return table(["copy", "first request", "cached for the original", "read by the copy", "share"], rows);
}

export function copiesTargets(copies: readonly Copied[]): Target[] {
  const kept = copies.filter(({ prefix }) => prefix === "extends");
  const shares = kept.map(({ before, first }) => read(first) / cached(before));
  const least = Math.min(...shares);
  return [
    {
      what: "of its original's cached tokens, read by the first request of a copy that keeps its load points",
      target: "at least 98 %",
      figure: `${percent(least)} (the least of ${kept.length})`,
      met: kept.length > 0 && least >= LEAST,
    },
  ];
}

function read({ usage }: RecordedRequest): number {
  return usage?.cache_read_input_tokens ?? 0;
}

/** All that was in the cache once a request was answered. */
function cached({ usage }: RecordedRequest): number {
  return (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0);
}
