import { z } from "zod";
import { defineAgent, defineTool, type Provider } from "../../src/index.node.ts";
import { anthropic } from "../../src/providers/anthropic/provider.ts";
import { readStream } from "../../src/providers/anthropic/stream.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import { call, LocalModel, say } from "../../test/emulators/anthropic/index.ts";

/** How a message's id says what becomes of it. The conformance kit's own ids begin so. */
const KIT = /kit message (tck|test)-([a-z-]+)/g;

/**
 * A model that does what the conformance kit asks for by the id of its message (`kit.ts` tells it that), and is as strict
 * about its requests as the API.
 */
export const kitModel: Provider = {
  ...anthropic,
  name: "kit",
  missing: () => null,
  async *stream(_model, body) {
    const received = new LocalModel().receive(body);
    if (received.kind === "refused") {
      const { status, type, message } = received.failure;
      throw new HoldfastError({ reason: "provider", status, type, message });
    }
    const events = received.answer([answerTo(body)]);
    yield* readStream(
      (async function* () {
        yield* events;
      })(),
    );
  },
};

function answerTo(body: string) {
  const { messages }: { messages: { role: string; content: { type: string }[] }[] } = JSON.parse(body);
  if (messages.at(-1)?.content.some(({ type }) => type === "tool_result")) return say("Done.");
  const [, , asked = ""] = [...JSON.stringify(messages.at(-1)).matchAll(KIT)].at(-1) ?? [];
  if (asked.startsWith("input-required")) return call("ask_for_more");
  if (asked.startsWith("delayed-complete")) return call("wait", { seconds: 3 });
  if (asked.startsWith("slow")) return call("wait", { seconds: 6 });
  if (asked.startsWith("resubscribe")) return call("wait", { seconds: 10 });
  return say("Hello.");
}

export const kitAgent = defineAgent({
  name: "kit",
  description: "Does what the A2A conformance kit asks for.",
  model: "kit/claude-sonnet-5",
  instructions: "You are tested.",
  tools: [
    defineTool({
      name: "ask_for_more",
      description: "Asks the user for more.",
      risk: "read",
      execute: (_, { ask }) => ask("What more can you tell me?"),
    }),
    defineTool({
      name: "wait",
      description: "Waits so many seconds.",
      risk: "read",
      idempotent: true,
      input: z.object({ seconds: z.number() }),
      async execute({ seconds }, { signal, progress }) {
        progress("waiting");
        await new Promise<void>((resolve, reject) => {
          setTimeout(resolve, seconds * 1000);
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
        return "waited";
      },
    }),
  ],
});
