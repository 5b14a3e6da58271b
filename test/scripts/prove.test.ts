import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conclusion, judge } from "../../scripts/prove/judge.ts";
import type { CallRecord } from "../../src/session/contract.ts";

const root = resolve(import.meta.dirname, "../..");
let emulator: ChildProcess;
let url: string;
let openaiUrl: string;

beforeAll(async () => {
  emulator = spawn(process.execPath, ["scripts/emulate.ts", "--port", "0"], { cwd: root });
  url = await new Promise((resolve, reject) => {
    let text = "";
    emulator.stdout?.on("data", (chunk) => {
      text += chunk;
      const found = /ANTHROPIC_BASE_URL=(\S+)/.exec(text)?.[1];
      openaiUrl = /OPENAI_BASE_URL=(\S+)/.exec(text)?.[1] ?? "";
      if (found !== undefined && openaiUrl !== "") resolve(found);
    });
    emulator.once("exit", () => reject(new Error(`the emulator ended: ${text}`)));
  });
});
afterAll(() => emulator.kill());

test("a conversation with loads, a late tool and a fresh process for each turn reads all that was sent before", async () => {
  const { code, text } = await prove(["--turns", "5"]);
  expect(text).toContain("PROVED: in each of");
  expect(text).not.toContain("NOT PROVED");
  expect(text).toMatch(/1 +first +0 +0 +\d{4,} +\d+/);
  expect(text.match(/ extends /g)?.length).toBeGreaterThanOrEqual(8);
  expect(code).toBe(0);
});

test("an OpenAI key will do, though its cache goes in steps and says nothing of what it wrote", async () => {
  const env = { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "any", OPENAI_BASE_URL: openaiUrl };
  const { code, text } = await prove(["--turns", "2"], env);
  expect(text).toContain("PROVED: in each of");
  expect(text).not.toContain("NOT PROVED");
  expect(code).toBe(0);
  const judged = judge([call("first", 0, 0, 1_000), call("extends", 768, 0)], 128);
  expect(judged[1]?.problem).toBe("read 768 tokens of the 896 that were in the cache");
});

test("without a key it says what to set, and asks nobody", async () => {
  const { code, text } = await prove(["--turns", "2"], { ANTHROPIC_API_KEY: "" });
  expect(text).toContain("Set ANTHROPIC_API_KEY");
  expect(code).toBe(2);
});

test("a request that reads less than was there is named with both figures", () => {
  const judged = judge([call("first", 0, 5_000), call("extends", 4_000, 1_200)]);
  expect(judged[1]?.problem).toBe("read 4000 tokens of the 5000 that were in the cache");
  expect(conclusion(judged)).toBe("NOT PROVED: request 2 read 4000 tokens of the 5000 that were in the cache.");
});

async function prove(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["scripts/prove.ts", ...args], {
    cwd: root,
    env: { ...process.env, ANTHROPIC_API_KEY: "any", ANTHROPIC_BASE_URL: url, ...env },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { code, text };
}

function call(prefix: "first" | "extends", cacheRead: number, cacheWrite: number, input = 0): CallRecord {
  return {
    ...{ turn: "t", step: 1, at: 0, model: "m", chain: "m", epoch: 1, verdict: { prefix }, place: null, hash: "" },
    ...{ segments: 1, deferredHash: "", bytes: 1, end: 0, answered: true },
    usage: { input, cacheRead, cacheWrite, output: 1 },
  } as CallRecord;
}
