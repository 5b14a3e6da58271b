/**
 * The public test kit, `holdfast/testing`: strict emulators of the providers' APIs over HTTP, a scripted model in
 * process, an agent without workerd, and the promise itself as an assertion. For Node 22.13 or newer.
 */
import { bodyLayout } from "../test/emulators/anthropic/index.ts";
import { type Layout, layoutDifference } from "../test/emulators/common/layout.ts";

export * from "../test/emulators/anthropic/index.ts";
export { type ScriptedModel, scripted } from "../test/emulators/anthropic/scripted.ts";
/** OpenAI's Responses API: `openai.startOpenAIEmulator()`, with failures and parts of its own beside the shared ones. */
export * as openai from "../test/emulators/openai/index.ts";
/** Chat Completions, OpenAI's or a compatible endpoint's: `openaiChat.startChatEmulator()`. */
export * as openaiChat from "../test/emulators/openai-chat/index.ts";
export {
  type BreakCause,
  type PrefixReport,
  type PrefixReportOptions,
  prefixReport,
  prefixReportText,
  type Reportable,
} from "../test/emulators/prefix-report.ts";
export { type Said, type TestAgentOptions, type TestedAgent, testAgent } from "./testing/test-agent.ts";

/**
 * Throws unless each of these request bodies extends the one before it: the same settings, inline tools and system text,
 * and behind them only more. Says where it does not. `layout` reads a body: Anthropic's by default, else
 * `openai.bodyLayout` or `openaiChat.bodyLayout`.
 */
export function expectExtends(requests: readonly string[], layout: (body: string) => Layout = bodyLayout): void {
  for (const [index, later] of requests.entries()) {
    const earlier = requests[index - 1];
    const why = earlier === undefined ? null : layoutDifference(layout(earlier), layout(later));
    if (why !== null) throw new Error(`request ${index + 1} does not extend request ${index}: ${why}`);
  }
}
