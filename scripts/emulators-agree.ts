import { readFileSync } from "node:fs";
import { contenders } from "../test/emulators/agree/contenders.ts";
import { parseRecordings } from "../test/emulators/agree/recorded.ts";
import { report } from "../test/emulators/agree/report.ts";

/**
 * Replays recorded exchanges with real APIs through the emulators' rules and says where they differ.
 * `node scripts/emulators-agree.ts FILE.jsonl`; what is compared and what is left out is told in `docs/emulators.md`.
 */
const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node scripts/emulators-agree.ts FILE.jsonl");
  process.exitCode = 2;
} else {
  const { lines, good } = report(parseRecordings(readFileSync(file, "utf8")), contenders);
  for (const line of lines) console.log(line);
  if (!good) process.exitCode = 1;
}
