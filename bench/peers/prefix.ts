import { call, say, startAnthropicEmulator } from "../../test/emulators/anthropic/index.ts";
import { prefixReport, prefixReportText } from "../../test/emulators/prefix-report.ts";
import { startWorkerd } from "../../test/workerd.ts";
import { SYSTEM } from "../cache/catalog.ts";
import { chatOverWebSocket } from "../lib/agent-socket.ts";
import { peerBundle } from "../lib/peer-bundle.ts";
import { definitions } from "../turn/contenders.ts";

/**
 * The prefix kit on a server that is not ours: Cloudflare's `AIChatAgent` with the AI SDK's Anthropic provider holds a
 * scripted conversation of eight turns, each second one with a tool call: as it comes, with its cache option set, and
 * with a tool that a deploy adds in mid-conversation. `npm ci --prefix bench/peers && node bench/peers/prefix.ts`
 */
process.chdir(new URL("../..", import.meta.url).pathname);
const entry = await peerBundle("bench/peers/worker.ts");
const all: object[] = JSON.parse(definitions());
const fewer = JSON.stringify(all.slice(0, -1));

await hold("as it comes", {});
await hold("with cacheControl", { CACHE: "yes" });
await hold(
  "with cacheControl, and a tool that comes after turn 4",
  { CACHE: "yes", TOOLS: fewer },
  { TOOLS: definitions() },
);

/** Holds the conversation and prints the report. `later` are settings of the deploy after turn 4. */
async function hold(name: string, settings: Record<string, string>, later?: Record<string, string>): Promise<void> {
  const emulator = await startAnthropicEmulator({
    answer: ({ lastUserText, toolResultsOfLastMessage: [result] }) =>
      result === undefined && lastUserText.includes("time") ? call("clock", { timeZone: "UTC" }) : say("Here you are."),
  });
  const bindings = { ANTHROPIC_BASE_URL: emulator.url, TOOLS: definitions(), SYSTEM, ...settings };
  const workerd = await startWorkerd({ entry, bindings });
  const chat = chatOverWebSocket(() => new URL("/agents/sessions/", workerd.url));
  for (let turn = 1; turn <= 8; turn += 1) {
    await chat.say("kit", turn % 2 === 0 ? `Question ${turn}: what time is it?` : `Question ${turn}: how are you?`);
    if (turn !== 4 || later === undefined) continue;
    chat.close();
    await workerd.fresh(later);
  }
  console.log(`AIChatAgent, ${name}\n${prefixReportText(prefixReport(emulator.requests))}\n`);
  chat.close();
  await workerd.dispose();
  await emulator.close();
}
