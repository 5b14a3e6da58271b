import { parseArgs } from "node:util";
import { demoAnswerer } from "../test/emulators/anthropic/demo.ts";
import { startAnthropicEmulator } from "../test/emulators/anthropic/index.ts";

/**
 * Runs the Anthropic emulator for a developer without a key: `node scripts/emulate.ts [--port 8788]`. It searches for a
 * tool where it can, calls what it found and tells the result.
 */
const { values } = parseArgs({ options: { port: { type: "string", default: "8788" } } });
const emulator = await startAnthropicEmulator({
  port: Number(values.port),
  signatures: "any",
  answer: (request) => {
    console.log(
      `request ${request.n}: ${request.body.messages.length} messages, visible: ${request.visible.join(", ")}`,
    );
    return demoAnswerer(request);
  },
});
console.log(`ANTHROPIC_BASE_URL=${emulator.url}`);
console.log("ANTHROPIC_API_KEY=anything");
