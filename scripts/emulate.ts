import { parseArgs } from "node:util";
import { demoAnswerer as anthropicModel } from "../test/emulators/anthropic/demo.ts";
import { startAnthropicEmulator } from "../test/emulators/anthropic/index.ts";
import { demoAnswerer as openaiModel } from "../test/emulators/openai/demo.ts";
import { startOpenAIEmulator } from "../test/emulators/openai/index.ts";
import { demoAnswerer as chatModel } from "../test/emulators/openai-chat/demo.ts";
import { startChatEmulator } from "../test/emulators/openai-chat/index.ts";

/**
 * Runs the emulators for a developer without a key: `node scripts/emulate.ts [--port 8788]`; OpenAI's are on the next two
 * ports. Each plays a model that searches for a tool where it can, calls what it found and tells the result.
 */
const { values } = parseArgs({ options: { port: { type: "string", default: "8788" } } });
const port = Number(values.port);
const after = (count: number) => (port === 0 ? 0 : port + count);

interface Seen {
  readonly n: number;
  readonly visible: readonly string[];
}

/** The same answerer, which tells of each request. */
function telling<Q extends Seen, A>(api: string, answer: (request: Q) => A): (request: Q) => A {
  return (request) => {
    console.log(`${api} request ${request.n}, visible: ${request.visible.join(", ")}`);
    return answer(request);
  };
}

const anthropic = await startAnthropicEmulator({
  port,
  signatures: "any",
  answer: telling("Anthropic", anthropicModel),
});
const openai = await startOpenAIEmulator({
  port: after(1),
  foreign: "any",
  answer: telling("OpenAI", openaiModel),
});
const chat = await startChatEmulator({ port: after(2), answer: telling("Chat Completions", chatModel) });

console.log(`ANTHROPIC_BASE_URL=${anthropic.url} ANTHROPIC_API_KEY=anything`);
console.log(`OPENAI_BASE_URL=${openai.url} OPENAI_API_KEY=anything`);
console.log(`openaiCompatible({ baseURL: "${chat.url}", apiKey: "anything" })`);
