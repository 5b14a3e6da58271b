import { z } from "zod";
import { apiKeys, defineAgent, defineTool, holdfast, lazy, type Provider } from "../../src/index.node.ts";
import { anthropic } from "../../src/providers/anthropic/provider.ts";
import { readStream } from "../../src/providers/anthropic/stream.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import { call, LocalModel, say } from "../emulators/anthropic/index.ts";

export const SECRET = "ann-secret-ann-secret-ann";

/** The worker that hostile requests go to, in this process and in workerd. */
export function fuzzed() {
  const tool = (name: string) =>
    defineTool({
      name,
      description: `Tells the ${name}.`,
      risk: "read",
      input: z.object({}),
      execute: () => `The ${name}.`,
    });
  const definition = { instructions: "Answer.", tools: [tool("clock"), lazy(tool("weather"))] };
  const modes = { plan: { allow: ["clock"] } };
  return holdfast({
    agents: [
      defineAgent({
        name: "assistant",
        description: "Answers.",
        model: "strict/claude-sonnet-5",
        modes,
        ...definition,
      }),
      defineAgent({ name: "other", description: "Plays.", model: "demo/scripted", ...definition }),
    ],
    auth: [apiKeys()],
    providers: { strict: strict() },
  });
}

/** Refuses what the API would, says little, and uses a tool when it is asked to. */
function strict(): Provider {
  return {
    ...anthropic,
    name: "strict",
    missing: () => null,
    async *stream(_model, body) {
      const received = new LocalModel().receive(body);
      if (received.kind === "refused") {
        const { status, type, message } = received.failure;
        throw new HoldfastError({ reason: "provider", status, type, message });
      }
      const fresh = /use a tool"[^[\]]*\]\}\]/.test(body);
      const events = received.answer([fresh ? call("clock", {}) : say("Good.")]);
      yield* readStream(
        (async function* () {
          yield* events;
        })(),
      );
    },
  };
}
