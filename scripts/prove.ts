import { parseArgs } from "node:util";
import type { CallRecord } from "../src/session/contract.ts";
import { startWorkerd, type Workerd } from "../test/workerd.ts";
import { LATE_FROM, question } from "./prove/conversation.ts";
import { conclusion, judge, lines } from "./prove/judge.ts";

/**
 * Shows with a user's own key what the provider's cache makes of a conversation with Holdfast: tools are loaded, one
 * comes late, and every turn runs in a fresh process. `npm run prove -- [--turns 6] [--model claude-sonnet-5]`, with
 * ANTHROPIC_API_KEY and, for another address, ANTHROPIC_BASE_URL. Exit code 0 where all that could be read was read.
 */
const SECRET = "prover-secret-prover-secret";
const { values } = parseArgs({
  options: { turns: { type: "string", default: "6" }, model: { type: "string", default: "claude-sonnet-5" } },
});
const turns = Number(values.turns);
const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = process.env;
if (!Number.isInteger(turns) || turns < 2) fail("--turns takes a whole number from 2 on.");
if (!apiKey)
  fail("Set ANTHROPIC_API_KEY: this talks to the API and costs a few cents. With an emulator, any text will do.");

console.log(
  `${turns} turns with ${values.model} at ${baseURL ?? "https://api.anthropic.com"}, each in a fresh process.`,
);
const workerd = await startWorkerd({
  entry: "scripts/prove/worker.ts",
  bindings: {
    MODEL: values.model,
    ANTHROPIC_API_KEY: apiKey,
    HOLDFAST_API_KEYS: `prover:${SECRET}`,
    ...(baseURL ? { ANTHROPIC_BASE_URL: baseURL } : {}),
  },
});
try {
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn > 1) await workerd.fresh(turn === LATE_FROM ? { LATE: "yes" } : {});
    console.log(`\n${turn}. ${question(turn)}\n   ${await say(workerd, question(turn))}`);
  }
  const response = await workerd.fetch("/prove/calls");
  const calls: CallRecord[] = await response.json();
  const judged = judge(calls);
  console.log(["", ...lines(judged), "", conclusion(judged)].join("\n"));
  if (judged.some(({ problem }) => problem !== null)) process.exitCode = 1;
} finally {
  await workerd.dispose();
}

async function say({ fetch }: Workerd, text: string): Promise<string> {
  const response = await fetch("/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${SECRET}`,
      "content-type": "application/json",
      "x-conversation-id": "proof",
    },
    body: JSON.stringify({ model: "prover", messages: [{ role: "user", content: text }] }),
  });
  const body: { choices?: { message: { content: string } }[]; error?: { message: string } } = await response.json();
  const answer = body.choices?.[0]?.message.content;
  if (answer !== undefined) return answer.length > 300 ? `${answer.slice(0, 300)} …` : answer;
  console.error(`\nThe turn failed: ${body.error?.message ?? response.status}`);
  process.exitCode = 1;
  return "(no answer)";
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
