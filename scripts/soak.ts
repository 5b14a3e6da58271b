import { soak } from "../test/soak/soak.ts";

/**
 * Usage: `npm run soak [-- --seconds N --sessions N --seed N]`. 200 sessions at once for ten minutes, with seeded faults
 * of the provider, of D1 and of the process itself. Prints what it came to, and fails where a request was invalid, an
 * answer was lost, memory grew, or too few turns met a fault. Memory means something only in the whole ten minutes: a
 * young process grows.
 */
function option(name: string, usual: number): number {
  const at = process.argv.indexOf(`--${name}`);
  const value = at < 0 ? usual : Number(process.argv[at + 1]);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} is a number above 0`);
  return value;
}

/** Memory is flat if the second half of its readings is not so much above the first: live objects vary less than pages. */
const GROWTH = { heap: 1.05, resident: 1.1 };

const seed = option("seed", Date.now() % 1_000_000_000);
const seconds = option("seconds", 600);
const sessions = option("sessions", 200);
console.log(`${sessions} sessions for ${seconds} s, seed ${seed}`);
const report = await soak({
  sessions,
  seconds,
  seed,
  thinkMs: 30_000,
  killEveryMs: Math.min(30_000, seconds * 250),
  memoryEveryMs: seconds * 15,
});
const { turns, faulty, met, memory, invalid, lost, kills, requests } = report;
console.log(`${turns} turns in ${report.sessions} sessions, ${requests} model calls, ${kills} kills`);
console.log(
  `${faulty} turns met a fault (1 in ${(turns / Math.max(1, faulty)).toFixed(1)}): ` +
    `provider ${met.provider}, kill ${met.kill}, D1 ${met.d1}`,
);
const inMegabytes = (of: "heap" | "resident") =>
  memory.map((reading) => reading[of].toFixed(of === "heap" ? 1 : 0)).join(" ");
console.log(`live objects in workerd without garbage, MB: ${inMegabytes("heap")}`);
console.log(`resident memory of workerd then, MB: ${inMegabytes("resident")}`);
for (const problem of [...invalid, ...lost].slice(0, 20)) console.error(problem);
const half = Math.ceil(memory.length / 2);
const average = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length);
const grows = (of: "heap" | "resident") => {
  const readings = memory.map((reading) => reading[of]);
  return average(readings.slice(half)) > average(readings.slice(0, half)) * GROWTH[of];
};
const grew = grows("heap") || grows("resident");
console.log(`${invalid.length} invalid requests, ${lost.length} lost answers, memory ${grew ? "grew" : "flat"}`);
process.exitCode = invalid.length + lost.length > 0 || grew || faulty * 5 < turns ? 1 : 0;
