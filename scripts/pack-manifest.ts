import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * What `npm pack` and `npm publish` put into the package: `trim` before, `restore` after. The repository brings its own
 * Node (190 MB) as an optional dependency and its scripts need what only development installs; a user of the package
 * gets neither.
 */
const manifest = resolve(import.meta.dirname, "../package.json");
const original = resolve(import.meta.dirname, "../dist/package.original.json");
const DEVELOPMENT: ReadonlySet<string> = new Set([
  "scripts",
  "devDependencies",
  "optionalDependencies",
  "allowScripts",
]);

const step = process.argv[2];
if (step === "trim") {
  const text = readFileSync(manifest, "utf8");
  writeFileSync(original, text);
  const kept = Object.entries(JSON.parse(text)).filter(([field]) => !DEVELOPMENT.has(field));
  writeFileSync(manifest, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
} else if (step === "restore") {
  if (existsSync(original)) renameSync(original, manifest);
} else {
  console.error("Usage: node scripts/pack-manifest.ts trim|restore");
  process.exitCode = 2;
}
