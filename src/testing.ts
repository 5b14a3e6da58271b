/**
 * The public test kit, `holdfast/testing`: a strict emulator of the provider's API over HTTP, a scripted model in
 * process, an agent without workerd, and the promise itself as an assertion. For Node 22.13 or newer.
 */
import { whyNotExtends } from "../test/emulators/anthropic/index.ts";

export * from "../test/emulators/anthropic/index.ts";
export {
  type BreakCause,
  type PrefixReport,
  type PrefixReportOptions,
  prefixReport,
  prefixReportText,
} from "../test/emulators/anthropic/prefix-report.ts";
export { type ScriptedModel, scripted } from "../test/emulators/anthropic/scripted.ts";
export { type Said, type TestAgentOptions, type TestedAgent, testAgent } from "./testing/test-agent.ts";

/**
 * Throws unless each of these request bodies (Anthropic's Messages API) extends the one before it: the same settings,
 * inline tools and system text, and behind them only more. Says where it does not.
 */
export function expectExtends(requests: readonly string[]): void {
  for (const [index, later] of requests.entries()) {
    const earlier = requests[index - 1];
    const why = earlier === undefined ? null : whyNotExtends(earlier, later);
    if (why !== null) throw new Error(`request ${index + 1} does not extend request ${index}: ${why}`);
  }
}
