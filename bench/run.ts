import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { load, machine } from "./lib/machine.ts";
import { replaceSection } from "./lib/markdown.ts";

/**
 * `npm run bench -- [cache] [turn] [growth] [size]`: measures those sections, all of them without a name, prints them and
 * writes them into `docs/benchmarks.md`. With `--print` nothing is written.
 */
const SECTIONS: Readonly<Record<string, () => Promise<string>>> = {
  cache: async () => (await import("./cache/section.ts")).cacheSection(),
  turn: async () => (await import("./turn/section.ts")).turnSection(),
  growth: async () => (await import("./growth/section.ts")).growthSection(),
  size: async () => (await import("./size/section.ts")).sizeSection(),
};
const DOCUMENT = resolve(import.meta.dirname, "../docs/benchmarks.md");

const given = process.argv.slice(2);
const names = given.filter((name) => !name.startsWith("--"));
const unknown = names.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  console.error(`There is no section ${unknown.join(", ")}. There are: ${Object.keys(SECTIONS).join(", ")}.`);
  process.exit(2);
}
process.chdir(resolve(import.meta.dirname, ".."));
for (const name of names.length > 0 ? names : Object.keys(SECTIONS)) {
  const before = load();
  const since = Date.now();
  const text = (await SECTIONS[name]?.()) ?? "";
  const seconds = Math.round((Date.now() - since) / 1000);
  const date = new Date(since).toISOString().slice(0, 10);
  const head = `\`npm run bench -- ${name}\`, ${date}, ${seconds} s. ${machine()}; load before and after: ${before}, ${load()}.`;
  console.log(`\n## ${name}\n\n${head}\n\n${text}`);
  if (given.includes("--print")) continue;
  writeFileSync(DOCUMENT, replaceSection(readFileSync(DOCUMENT, "utf8"), name, `${head}\n\n${text}`));
}
