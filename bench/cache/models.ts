import { type Emulator, startAnthropicEmulator } from "../../test/emulators/anthropic/index.ts";
import { flatten } from "../../test/emulators/common/answer.ts";
import { compact, type OpenAIEmulator, startOpenAIEmulator } from "../../test/emulators/openai/index.ts";
import { throughBridge } from "../../test/emulators/openai-chat/bridge.ts";
import { type ChatEmulator, startChatEmulator } from "../../test/emulators/openai-chat/index.ts";
import { answerTo, SUMMARY } from "./scenario.ts";

/** An emulator for each API, all of which play the model of the scenario. */
export interface Models {
  readonly anthropic: Emulator;
  readonly openai: OpenAIEmulator;
  readonly chat: ChatEmulator;
  close(): Promise<void>;
}

export async function startModels(): Promise<Models> {
  const anthropic = await startAnthropicEmulator({
    answer: ({ lastUserText, visible, toolResultsOfLastMessage, body: { thinking } }) =>
      answerTo({
        ...{ lastUserText, visible },
        results: toolResultsOfLastMessage.map(({ name }) => name),
        thinks: thinking !== undefined && thinking.type !== "disabled",
      }),
  });
  const openai = await startOpenAIEmulator({
    answer: ({ lastUserText, visible, lastOutputs, bodyText }) =>
      bodyText.includes('{"type":"compaction_trigger"}')
        ? compact(SUMMARY)
        : answerTo({ lastUserText, visible, results: lastOutputs.map(({ name }) => name), thinks: false }),
  });
  const chat = await startChatEmulator({
    answer({ lastUserText, visible, lastOutputs, bodyText }) {
      const described = [...bodyText.matchAll(/\{\\"name\\":\\"([a-z_]+)\\",\\"description/g)].map(
        ([, name = ""]) => name,
      );
      const called = lastOutputs.map(({ name, text }) => (name === "call_tool" ? calledIn(text) : name));
      const answer = answerTo({ lastUserText, visible: [...visible, ...described], results: called, thinks: false });
      return throughBridge(flatten(answer), visible);
    },
  });
  return {
    ...{ anthropic, openai, chat },
    async close() {
      await Promise.all([anthropic.close(), openai.close(), chat.close()]);
    },
  };
}

/** The tool whose result a text is: results of the scenario name it. */
function calledIn(text: string): string {
  return /"id":"([a-z_]+)-1-/.exec(text)?.[1] ?? "";
}
