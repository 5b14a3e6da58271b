import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Agent } from "../../src/define/types.ts";
import type { ModelEvent } from "../../src/providers/contract.ts";
import { SessionClient } from "../../src/session/client.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { runTurn } from "../../src/turn/run.ts";
import type { TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import { type AnswerOf, flatten, type SharedPart } from "../emulators/common/answer.ts";
import type { GoldenForm } from "./forms.ts";

/** What every model can say; `lost` is a request that gets no answer, `compacted` one that the provider answers so. */
export type GoldenAnswer = AnswerOf<SharedPart> | "lost" | "compacted";

/** One turn of a golden conversation. */
export interface GoldenTurn {
  readonly user: string;
  /** What the model says, one answer a request. */
  readonly answers: readonly GoldenAnswer[];
  /** The conversation is compacted before its next call, by whom it says. */
  readonly compact?: "runtime" | "provider";
  /** Core tools that have come by now. */
  readonly late?: readonly string[];
}

/** All that a conversation came to: its entries as stored, and every request's body as sent. */
export interface Played {
  readonly entries: readonly string[];
  readonly bodies: readonly string[];
}

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/**
 * Plays a conversation through the real turn and the real session, over Node's SQLite, with fixed ids and a fixed time.
 * Each turn reads all it knows back from the session. Throws when the API would refuse a request.
 */
export async function playConversation(form: GoldenForm, turns: readonly GoldenTurn[]): Promise<Played> {
  const session = nodeSession({ now: () => 0 });
  const client = new SessionClient({ getByName: () => session }, "golden");
  const bodies: string[] = [];
  let minted = 0;
  for (const [index, { user, answers, late = [], compact }] of turns.entries()) {
    const planned = [...answers];
    const agent = goldenAgent(form.model, late, compact);
    const stream = (_: string, body: string) => {
      bodies.push(body);
      return answerTo(form, body, planned.shift(), bodies.length);
    };
    const deps = {
      runtime: { agents: [agent], provider: () => ({ ...form.provider, stream }) },
      env: { ANTHROPIC_API_KEY: "key", OPENAI_API_KEY: "key" } as Cloudflare.Env,
      session: client,
      quotas: null,
      sink: new Sink("turn"),
      now: () => 0,
      mintId: () => String(++minted),
      log: () => {},
    };
    await runTurn(deps, request(agent, user), `turn_${index + 1}`);
    for await (const event of deps.sink) {
      if (event.type === "failed" && event.failure.reason !== "provider") throw new Error(JSON.stringify(event));
    }
    if (planned.length > 0) throw new Error(`turn ${index + 1} has ${planned.length} answers too many`);
  }
  const stored = await client.entries(0, 1000);
  return { entries: (stored?.entries ?? []).map(([, text]) => text), bodies };
}

async function* answerTo(
  form: GoldenForm,
  body: string,
  answer: GoldenAnswer | undefined,
  n: number,
): AsyncGenerator<ModelEvent> {
  if (answer === undefined) throw new Error(`request ${n} has no answer`);
  if (answer === "lost") {
    form.answer(body, [], n);
    throw new HoldfastError({ reason: "provider", status: 500, type: "api_error", message: "Lost." });
  }
  if (answer === "compacted") {
    if (form.compacted === undefined) throw new Error("nobody compacts anything here");
    yield* form.compacted(body, n);
    return;
  }
  yield* form.answer(body, flatten(answer), n);
}

function request(agent: Agent, text: string): TurnRequest {
  const owner = { id: "ann", name: "Ann", roles: ["user"] };
  const conversation = { id: "golden", minted: true };
  return plainRequest({ agent, owner, conversation, requestId: "golden" }, [{ type: "text", text }]);
}

const text = { type: "object", properties: { text: { type: "string" } } } as const;

const echo = (name: string, description: string) =>
  defineTool({ name, description, risk: "read", input: text, execute: () => `${name} has been done.` });

/** Few tools with short words, so that the files stay readable. */
function goldenAgent(model: string, late: readonly string[], compact: GoldenTurn["compact"]): Agent {
  return defineAgent({
    name: "golden",
    description: "The agent of the golden files.",
    model,
    settings: { maxOutputTokens: 1000, thinking: true },
    instructions: "You help Ann.",
    // Any call at all used more of the window than this.
    ...(compact === undefined ? {} : { compaction: { by: compact, threshold: 1e-9 } }),
    tools: [
      echo("clock", "Tells the time."),
      defineTool({
        name: "fetch_page",
        description: "Fetches a page.",
        risk: "read",
        input: text,
        execute() {
          throw new Error("The page can't be reached.");
        },
      }),
      defineTool({
        name: "draw",
        description: "Draws a dot.",
        risk: "read",
        input: text,
        execute: () => ({
          content: [
            { type: "text", text: "A dot:" },
            { type: "image", mediaType: "image/png", data: DOT },
          ],
        }),
      }),
      ...late.map((name) => echo(name, `Came late: ${name}.`)),
      lazy(echo("weather", "Tells the weather."), echo("convert", "Converts units."), echo("dates", "Reckons dates.")),
    ],
  });
}
