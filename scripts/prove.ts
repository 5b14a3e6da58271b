import { parseArgs } from "node:util";
import type { CallRecord } from "../src/session/contract.ts";
import { startWorkerd, type Workerd } from "../test/workerd.ts";
import { LATE_FROM, question } from "./prove/conversation.ts";
import { conclusion, judge, lines } from "./prove/judge.ts";

/**
 * Shows with a user's own key what the provider's cache makes of a conversation with Holdfast: tools are loaded, one
 * comes late, and every turn runs in a fresh process. `npm run prove -- [--turns 6] [--model openai/gpt-5.4]`, with
 * ANTHROPIC_API_KEY or OPENAI_API_KEY and, for another address, ANTHROPIC_BASE_URL or OPENAI_BASE_URL. Exit code 0 where
 * all that could be read was read.
 */
const SECRET = "prover-secret-prover-secret";
const { values } = parseArgs({
  options: { turns: { type: "string", default: "6" }, model: { type: "string" } },
});
const turns = Number(values.turns);
if (!Number.isInteger(turns) || turns < 2) fail("--turns takes a whole number from 2 on.");
const { provider, name } = chosen(values.model);
const apiKey = process.env[`${provider.toUpperCase()}_API_KEY`];
const baseURL = process.env[`${provider.toUpperCase()}_BASE_URL`];
if (!apiKey) {
  const keys = values.model ? `${provider.toUpperCase()}_API_KEY` : "ANTHROPIC_API_KEY or OPENAI_API_KEY";
  fail(`Set ${keys}: this talks to the API and costs a few cents. With an emulator, any text will do.`);
}

console.log(`${turns} turns with ${name} at ${baseURL ?? `https://api.${provider}.com`}, each in a fresh process.`);
const workerd = await startWorkerd({
  entry: "scripts/prove/worker.ts",
  bindings: {
    MODEL: `${provider}/${name}`,
    [`${provider.toUpperCase()}_API_KEY`]: apiKey,
    HOLDFAST_API_KEYS: `prover:${SECRET}`,
    ...(baseURL ? { [`${provider.toUpperCase()}_BASE_URL`]: baseURL } : {}),
  },
});
try {
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn > 1) await workerd.fresh(turn === LATE_FROM ? { LATE: "yes" } : {});
    console.log(`\n${turn}. ${question(turn)}\n   ${await say(workerd, question(turn))}`);
  }
  const response = await workerd.fetch("/prove/calls");
  const calls: CallRecord[] = await response.json();
  const judged = judge(calls, provider === "openai" ? cacheStep(name) : null);
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

/** The model that was asked for, or one that there is a key for. A name without a provider is Anthropic's. */
function chosen(model: string | undefined): { provider: "anthropic" | "openai"; name: string } {
  const [, asked, name] = /^(?:(anthropic|openai)\/)?(.+)$/.exec(model ?? "") ?? [];
  const onlyOpenAI = !process.env.ANTHROPIC_API_KEY && Boolean(process.env.OPENAI_API_KEY);
  if (asked === "openai" || (model === undefined && onlyOpenAI)) return { provider: "openai", name: name ?? "gpt-5.4" };
  return { provider: "anthropic", name: name ?? "claude-sonnet-5" };
}

/** How finely an OpenAI model caches where it does not say what it wrote (`docs/providers.md`). */
function cacheStep(model: string): number | null {
  if (/^gpt-(5\.[6-9]|6)/.test(model)) return null;
  return model.startsWith("gpt-5.5") ? 2048 : 128;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
