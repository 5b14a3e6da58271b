import { readFile, writeFile } from "node:fs/promises";
import { expect } from "vitest";
import { type Point, pointText } from "./points.ts";
import type { Outcome } from "./suite.ts";

const DOC = "docs/reliability.md";
const MARKS = ["<!-- kill table: written by npm run test:long -->", "<!-- end of the kill table -->"] as const;
const HEAD =
  "| killed | the turn | model calls | results of look, send, search, weather, send |\n| --- | --- | --- | --- |";

/** Each outcome is a row of the table in the docs. */
export async function expectRows(outcomes: readonly Outcome[]): Promise<void> {
  const text = await readFile(DOC, "utf8");
  for (const outcome of outcomes) expect(text).toContain(rowOf(outcome));
}

/** The outcomes are the table in the docs. With `HOLDFAST_UPDATE_DOCS` it is written anew. */
export async function expectTable(outcomes: readonly Outcome[]): Promise<void> {
  const text = await readFile(DOC, "utf8");
  const [before = "", rest = ""] = text.split(MARKS[0]);
  const [, after = ""] = rest.split(MARKS[1]);
  const written = `${before}${MARKS[0]}\n${HEAD}\n${outcomes.map(rowOf).join("\n")}\n${MARKS[1]}${after}`;
  if (process.env.HOLDFAST_UPDATE_DOCS !== undefined) return writeFile(DOC, written);
  expect(text, "run this test with HOLDFAST_UPDATE_DOCS=1 and look at what changed").toBe(written);
}

export function textOf(points: readonly Point[]): string {
  return points.map(pointText).join(", then ");
}

function rowOf({ points, end, requests, statuses }: Outcome): string {
  return `| ${textOf(points)} | ${end} | ${requests} | ${statuses.join(", ")} |`;
}
