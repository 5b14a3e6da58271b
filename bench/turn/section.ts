import { startAnthropicEmulator } from "../../test/emulators/anthropic/index.ts";
import { workerdProcesses } from "../lib/cpu.ts";
import { ms, type Target, table, targets, thousands, times } from "../lib/markdown.ts";
import type { Tally } from "../lib/meter.ts";
import type { Timing } from "../lib/read-stream.ts";
import { median, pairedRatio, quantile, sum } from "../lib/stats.ts";
import { LENGTHS, model } from "./answers.ts";
import { floorContender, holdfastContender, peerContender } from "./contenders.ts";
import { type Counts, countTurns } from "./counts.ts";
import { coldIsolateTurns, freshTurns, processorTime, type Timings, warmTurns, withProcess } from "./timings.ts";

const DELAYS = [0, 30] as const;
const wholes = (timings: readonly Timing[] | undefined) => (timings ?? []).map(({ whole }) => whole);
const firsts = (timings: readonly Timing[] | undefined) => (timings ?? []).map(({ first }) => first);

interface Case {
  readonly name: string;
  readonly timings: Timings;
}

export async function turnSection(): Promise<string> {
  const emulator = await startAnthropicEmulator({ answer: model });
  const counts = await countTurns(emulator.url);
  const known = workerdProcesses();
  const floor = await withProcess(floorContender(emulator.url), known);
  const ours = await withProcess(holdfastContender(emulator.url, false), known);
  const found = await peerContender(emulator.url);
  const peer = found === null ? null : await withProcess(Promise.resolve(found), known);
  const contenders = [floor, ours, ...(peer === null ? [] : [peer])];
  try {
    const cases: Case[] = [];
    for (const tokens of LENGTHS) {
      for (const delay of DELAYS) {
        const count = delay === 0 ? 40 : 20;
        const timings = await warmTurns(contenders, { tokens, delay, warm: 12, count });
        cases.push({ name: `${tokens} tokens, ${delay === 0 ? "warm" : `${delay} ms an object call`}`, timings });
      }
    }
    const processor = await processorTime(contenders, 40);
    const [coldOurs = [], coldFloor = []] = await coldIsolateTurns(emulator.url, 12);
    cases.push({ name: "10 tokens, cold isolate", timings: [coldFloor, coldOurs] });
    const fresh = await freshTurns(contenders, 6);
    cases.push({ name: "10 tokens, fresh process", timings: fresh.timings });
    return report(
      contenders.map(({ name }) => name),
      cases,
      fresh.starts,
      processor,
      counts,
    );
  } finally {
    for (const one of contenders) await one.dispose();
    await emulator.close();
  }
}

function report(
  names: readonly string[],
  cases: readonly Case[],
  starts: readonly (readonly number[])[],
  processor: readonly number[],
  counts: Counts,
): string {
  const cell = (timings: readonly Timing[] | undefined) =>
    timings === undefined
      ? "–"
      : `${ms(median(wholes(timings)))} (${ms(median(firsts(timings)))}; ${ms(quantile(wholes(timings), 0.9))})`;
  const ratio = (timings: Timings, by: number) => times(pairedRatio(wholes(timings[1]), wholes(timings[by])));
  return [
    "A turn of one step in a conversation that goes on, from the request to the end of the answer, in ms: median (to the",
    "first text; 90th percentile). One conversation a case, the contenders in turns, 60 ms between two turns.",
    "",
    table(
      ["", ...names, "Holdfast / floor", "Holdfast / AIChatAgent"],
      cases.map(({ name, timings }) => [
        name,
        ...names.map((_, index) => cell(timings[index])),
        ratio(timings, 0),
        timings[2] === undefined ? "–" : ratio(timings, 2),
      ]),
    ),
    "",
    `Processor time of workerd a turn: ${names.map((name, index) => `${name} ${ms(processor[index] ?? Number.NaN)} ms`).join(", ")}. ` +
      `A fresh process listens after ${names.map((name, index) => `${name} ${ms(median(starts[index] ?? []))} ms`).join(", ")} (not in the table).`,
    "",
    "- **floor**: the same number of object calls (two: store the message and answer the history; store the answer), one",
    "  streamed model call by `fetch`, server-sent events out. No checks, lease, ledger, journal of bytes or second store.",
    "- **AIChatAgent**: `agents` and `@cloudflare/ai-chat` over their WebSocket protocol, on the AI SDK's Anthropic provider.",
    "  Its turn runs in the object, so an object that is far away costs it one hop a turn; it resumes streams, which the",
    "  floor does not. Versions: `bench/peers/package.json`.",
    "- **cold isolate**: made for that one request in a process and beside an object that are warm; the object is one hop",
    "  further away there, for both. **fresh process**: first turn on a conversation that is on disk.",
    "- In local workerd, D1 and the objects share one thread with the worker. On Cloudflare they do not.",
    "",
    "What a turn of Holdfast is made of, counted in the bench worker (RPC in bytes of JSON):",
    "",
    table(
      [
        "",
        "object calls",
        "rows written",
        "D1 statements by the worker",
        "D1 statements by the object",
        "RPC sent",
        "RPC received",
      ],
      [
        countRow("a session's first turn, 10 tokens", counts.first),
        ...[...counts.later].map(([tokens, tally]) => countRow(`a later turn, ${tokens} tokens`, tally)),
      ],
    ),
    "",
    `With every D1 statement 100 ms slower, a turn takes ${ms(Math.max(0, counts.d1OnPath))} ms longer. That is of a client which names its`,
    "conversation; one that does not waits for D1 twice, before its turn to find the conversation and after it to note it.",
    "",
    targets(turnTargets(cases, counts)),
  ].join("\n");
}

function countRow(name: string, { calls, rows, d1, sent, received }: Tally): (string | number)[] {
  const made = Object.entries(calls).map(([method, count]) => `${count} ${method}`);
  return [name, made.join(", "), rows, d1.worker, d1.object, thousands(sent), thousands(received)];
}

function turnTargets(cases: readonly Case[], counts: Counts): Target[] {
  const later = counts.later.get(10);
  const calls = sum(
    Object.entries(later?.calls ?? {}).flatMap(([method, count]) => (method === "beat" ? [] : [count])),
  );
  const rows = later?.rows ?? Number.NaN;
  const byName = (name: string) => cases.find((one) => one.name === name)?.timings ?? [];
  const list: Target[] = [
    { what: "object calls of a one-step turn, beats aside", target: "2", figure: String(calls), met: calls === 2 },
    { what: "rows written, flush included", target: "at most 8", figure: String(rows), met: rows <= 8 },
    {
      what: "D1 statements on the path",
      target: "0",
      figure: counts.d1OnPath < 50 ? "0" : `+${ms(counts.d1OnPath)} ms`,
      met: counts.d1OnPath < 50,
    },
  ];
  for (const tokens of LENGTHS) {
    const timings = byName(`${tokens} tokens, warm`);
    const floor = pairedRatio(wholes(timings[1]), wholes(timings[0]));
    list.push({
      what: `time of a warm turn, ${tokens} tokens`,
      target: "at most 1.3× the floor",
      figure: times(floor),
      met: floor <= 1.3,
    });
    if (timings[2] === undefined) continue;
    const peer = pairedRatio(wholes(timings[1]), wholes(timings[2]));
    list.push({
      what: `time of a warm turn, ${tokens} tokens`,
      target: "at most 0.5× the peer",
      figure: times(peer),
      met: peer <= 0.5,
    });
  }
  return list;
}
