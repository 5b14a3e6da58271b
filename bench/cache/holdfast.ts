import type { Emulator, RecordedRequest } from "../../test/emulators/anthropic/index.ts";
import { startWorkerd, type Workerd } from "../../test/workerd.ts";
import { type Compacted, compactions } from "./compactions.ts";
import type { Models } from "./models.ts";
import { LATE_FROM, TURNS } from "./scenario.ts";
import { post, say } from "./worker-client.ts";

const AGENTS = ["plain", "bound"] as const;
export type AgentName = (typeof AGENTS)[number];

/** The agents on OpenAI's APIs: of them no copies are made. */
const OPENAI_AGENTS = ["steps", "boundaries", "chat", "bridge"] as const;

/** Where copies are taken: of the whole conversation, before a late message, and before tools were loaded. */
const CUTS: readonly (number | null)[] = [null, 20, 6];

/** The first request of a copy, and the original's last one before the cut. */
export interface Copied {
  readonly agent: AgentName;
  /** The message that it was forked before, from 0; null for a clone. */
  readonly at: number | null;
  readonly before: RecordedRequest;
  readonly first: RecordedRequest;
  /** What the worker says of it in `x-holdfast-prefix`. */
  readonly prefix: string;
}

/** What the emulators got of the conversations themselves, and what came of copies and of compactions of them. */
export interface Held {
  readonly anthropic: Models["anthropic"]["requests"];
  readonly openai: Models["openai"]["requests"];
  readonly chat: Models["chat"]["requests"];
  readonly copies: readonly Copied[];
  readonly compactions: readonly Compacted[];
}

/**
 * Holds the conversation of the scenario with each agent of the bench worker, through the real worker in workerd, in a
 * fresh process for each turn. Then goes on with copies of it, and compacts it.
 */
export async function holdfastConverses(models: Models): Promise<Held> {
  const { anthropic: emulator, openai, chat } = models;
  const workerd = await startWorkerd({
    entry: "bench/cache/worker.ts",
    bindings: {
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: emulator.url,
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: openai.url,
      CHAT_URL: chat.url,
      HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench",
    },
  });
  try {
    const last: Record<AgentName, RecordedRequest[]> = { plain: [], bound: [] };
    for (const [index, { text }] of TURNS.entries()) {
      const turn = index + 1;
      if (turn > 1) await workerd.fresh(turn === LATE_FROM ? { LATE: "yes" } : {});
      for (const agent of AGENTS) {
        await say(workerd, agent, "bench", text);
        last[agent].push(newest(emulator));
      }
      for (const agent of OPENAI_AGENTS) await say(workerd, agent, "bench", text);
    }
    const held = { anthropic: [...emulator.requests], openai: [...openai.requests], chat: [...chat.requests] };
    const copies: Copied[] = [];
    for (const agent of AGENTS) {
      for (const at of CUTS) copies.push(await copy(workerd, emulator, agent, at, last[agent]));
    }
    return { ...held, copies, compactions: await compactions(workerd, models, [...held.anthropic, ...held.openai]) };
  } finally {
    await workerd.dispose();
  }
}

/** Clones or forks the conversation, and says one thing in the copy, in a fresh process. */
async function copy(
  workerd: Workerd,
  emulator: Emulator,
  agent: AgentName,
  at: number | null,
  last: readonly RecordedRequest[],
): Promise<Copied> {
  const how = at === null ? "clone" : "fork";
  const path = `/agents/${agent}/api/sessions/bench/${how}`;
  const made = await post(workerd, path, { at });
  const { id } = (await made.json()) as { id: string };
  await workerd.fresh();
  const before = last[(at ?? last.length) - 1];
  if (before === undefined) throw new Error(`no request before message ${at}`);
  const asked = emulator.requests.length;
  const prefix = await say(workerd, agent, id, "Thank you. And what was the matter with all of that, in a word?");
  const first = emulator.requests[asked];
  if (first === undefined) throw new Error("a copy asked nothing");
  return { agent, at, before, first, prefix };
}

function newest({ requests }: Emulator): RecordedRequest {
  const request = requests.at(-1);
  if (request === undefined) throw new Error("nothing was asked");
  return request;
}
