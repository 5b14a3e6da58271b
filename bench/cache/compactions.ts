import { SUMMARY_REQUEST } from "../../src/context/compaction.ts";
import type { RecordedRequest as AnthropicRequest } from "../../test/emulators/anthropic/index.ts";
import type { RecordedRequest as OpenAIRequest } from "../../test/emulators/openai/index.ts";
import type { Workerd } from "../../test/workerd.ts";
import type { Models } from "./models.ts";
import { get, post, say } from "./worker-client.ts";

/** The agents whose conversations are compacted, each with its model. */
export const COMPACTED = {
  plain: "claude-sonnet-5",
  bound: "claude-sonnet-5-5",
  steps: "gpt-5.4",
  boundaries: "gpt-5.6-sol",
} as const;
export type CompactedAgent = keyof typeof COMPACTED;

/**
 * How a conversation goes on. `ours`: from a summary that extends the chain's last request. `provider`: that, and OpenAI's
 * own item. `apart`: from a summary that was asked for in a request of its own, with neither tools nor instructions.
 * `whole`: uncompacted.
 */
export type Way = "ours" | "provider" | "apart" | "whole";

/** What a request took, in tokens, and the most that the next one can read of it. */
export interface Took {
  readonly sent: number;
  readonly read: number;
  readonly written: number;
  readonly cached: number;
}

export interface Compacted {
  readonly agent: CompactedAgent;
  readonly way: Way;
  /** The conversation's last request. */
  readonly before: Took;
  /** What it took to compact it. */
  readonly asked: readonly Took[];
  /** The requests of the turns that followed. */
  readonly after: readonly Took[];
}

const MORE = [
  "Thank you. Which of these matters is the oldest one?",
  "And who has to be asked about that one first?",
  "What was it that the harbour office wanted to know?",
  "Then leave it as it is, and remind me on Monday.",
];

type Recorded = AnthropicRequest | OpenAIRequest;

/** An API, as far as it matters here. */
interface Api {
  requests(): readonly Recorded[];
  reset(): void;
  took(recorded: Recorded | undefined): Took;
  /** Sends a body as it is. */
  ask(body: string): Promise<void>;
  /** The body of a request for a summary of this text, and of nothing else. */
  apart(model: string, transcript: string): string;
}

/** Goes on with each conversation, of which these are the requests, in each way, every way in a fresh process. */
export async function compactions(workerd: Workerd, models: Models, held: readonly Recorded[]): Promise<Compacted[]> {
  const all: Compacted[] = [];
  const naive: (() => Promise<Compacted>)[] = [];
  for (const agent of ["plain", "bound", "steps", "boundaries"] as const) {
    const api = apiOf(agent, models);
    const last = held.findLast(({ json }) => (json as { model: string }).model === COMPACTED[agent]);
    if (last === undefined) throw new Error(`${agent} asked nothing`);
    const before = api.took(last);
    const transcript = await told(workerd, agent);
    const clones = { whole: await clone(workerd, agent), provider: await clone(workerd, agent) };
    const bodies = async (act: () => Promise<void>) => {
      const since = api.requests().length;
      await act();
      return api.requests().slice(since);
    };
    const goOn = async (id: string, texts = MORE) => {
      for (const text of texts) await say(workerd, agent, id, text);
    };
    const taken = (way: Way, requests: readonly Recorded[]) => {
      const took = requests.map((one) => api.took(one));
      const aside = took.length - MORE.length;
      all.push({ agent, way, before, asked: took.slice(0, aside), after: took.slice(aside) });
    };
    const ours = await bodies(async () => {
      await workerd.fresh();
      await post(workerd, `/agents/${agent}/api/sessions/bench/compact`, {});
      await goOn("bench");
    });
    taken("ours", ours);
    if (agent === "steps" || agent === "boundaries") {
      const own = await bodies(async () => {
        await workerd.fresh({ COMPACT: "yes" });
        await goOn(clones.provider, MORE.slice(0, 1));
        await workerd.fresh({ COMPACT: "" });
        await goOn(clones.provider, MORE.slice(1));
      });
      taken("provider", own);
    }
    naive.push(async () => {
      api.reset();
      await api.ask(last.bodyText);
      await api.ask(api.apart(COMPACTED[agent], transcript));
      for (const { bodyText } of ours.slice(-MORE.length)) await api.ask(bodyText);
      const [, asked, ...after] = api.requests().map((one) => api.took(one));
      return { agent, way: "apart", before, asked: asked === undefined ? [] : [asked], after };
    });
    const whole = await bodies(async () => {
      await workerd.fresh();
      await goOn(clones.whole);
    });
    taken("whole", whole);
  }
  // These take the emulators' caches and records from the others.
  for (const run of naive) all.push(await run());
  return all;
}

async function clone(workerd: Workerd, agent: string): Promise<string> {
  const made = await post(workerd, `/agents/${agent}/api/sessions/bench/clone`, {});
  return ((await made.json()) as { id: string }).id;
}

/** What was said and done, as a text. */
async function told(workerd: Workerd, agent: string): Promise<string> {
  const path = `/agents/${agent}/api/sessions/bench/entries?limit=500`;
  const { entries } = (await (await get(workerd, path)).json()) as { entries: readonly Told[] };
  return entries.map(({ kind, content, results }) => `${kind}: ${JSON.stringify(content ?? results)}`).join("\n");
}

interface Told {
  readonly kind: string;
  readonly content?: unknown;
  readonly results?: unknown;
}

function apiOf(agent: CompactedAgent, { anthropic, openai }: Models): Api {
  const asking = (url: string, headers: Record<string, string>) => async (body: string) => {
    const method = "POST";
    const response = await fetch(url, { method, headers: { "content-type": "application/json", ...headers }, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
  };
  if (agent === "plain" || agent === "bound") {
    return {
      requests: () => anthropic.requests,
      reset: () => anthropic.reset(),
      took(recorded) {
        const usage = (recorded as AnthropicRequest | undefined)?.usage;
        const read = usage?.cache_read_input_tokens ?? 0;
        const written = usage?.cache_creation_input_tokens ?? 0;
        return { sent: read + written + (usage?.input_tokens ?? 0), read, written, cached: read + written };
      },
      ask: asking(`${anthropic.url}/v1/messages`, { "x-api-key": "key", "anthropic-version": "2023-06-01" }),
      apart: (model, text) =>
        JSON.stringify({
          ...{ model, max_tokens: 8_000, system: "You write summaries." },
          messages: [{ role: "user", content: [{ type: "text", text }, asksForSummary("text")] }],
        }),
    };
  }
  return {
    requests: () => openai.requests,
    reset: () => openai.reset(),
    took(recorded) {
      const usage = (recorded as OpenAIRequest | undefined)?.usage;
      const sent = usage?.input_tokens ?? 0;
      const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = usage?.input_tokens_details ?? {};
      return { sent, read, written, cached: agent === "steps" ? sent - (sent % 128) : read + written };
    },
    ask: asking(`${openai.url}/responses`, { authorization: "Bearer key" }),
    apart: (model, text) =>
      JSON.stringify({
        ...{ model, store: false, instructions: "You write summaries." },
        input: [{ role: "user", content: [{ type: "input_text", text }, asksForSummary("input_text")] }],
      }),
  };
}

function asksForSummary(type: string) {
  return { type, text: SUMMARY_REQUEST };
}
