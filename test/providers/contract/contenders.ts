import { anthropic } from "../../../src/providers/anthropic/provider.ts";
import type { Provider } from "../../../src/providers/contract.ts";
import { openai } from "../../../src/providers/openai/provider.ts";
import { openaiCompatible } from "../../../src/providers/openai-chat/provider.ts";
import * as claude from "../../emulators/anthropic/index.ts";
import { type AnswerOf, call, type SharedPart } from "../../emulators/common/answer.ts";
import type { Layout } from "../../emulators/common/layout.ts";
import * as responses from "../../emulators/openai/index.ts";
import * as chat from "../../emulators/openai-chat/index.ts";

/** What a request read from the provider's cache and wrote to it, by the emulator's own account, in tokens. */
export interface Counted {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/**
 * How a request fails: refused for so many seconds (`retry-after`), for a moment, for what it says, or for thinking that
 * was signed or encrypted for another account.
 */
export type Failing = number | "down" | "refused" | "unsigned";

/** An answer, a failure, or that the provider compacts what came before. */
export type Told = AnswerOf<SharedPart> | Failing | "compacted";

/** A provider's emulator, as far as every provider's test needs it. */
export interface Stage {
  readonly url: string;
  /** Adds answers, one for each request to come. */
  script(...answers: readonly Told[]): void;
  /** The requests so far, those that were refused included. */
  requests(): {
    readonly body: string;
    readonly status: number;
    readonly visible: readonly string[];
    readonly counted: Counted | null;
  }[];
  /** Forgets everything. Throws the first thing that a script did and no model would. */
  reset(): void;
  close(): Promise<void>;
}

/** A provider with a model of it, as the contract's tests drive it. A new provider is a line in the table below. */
export interface Contender {
  readonly name: string;
  /** Name of the provider in a model's name. */
  readonly key: string;
  readonly model: string;
  /** What a tool that joins later does to the prefix. */
  readonly late: "extends" | "late_inline";
  /** Its cache has a place every so many tokens, and none in between; absent where requests say where to write. */
  readonly step?: number;
  readonly env: (url: string) => Record<string, string>;
  readonly provider: (url: string) => Provider;
  readonly start: () => Promise<Stage>;
  /** A call of a tool that joined later. */
  readonly callLate: (name: string, input?: object) => SharedPart;
  readonly layout: (body: string) => Layout;
}

const SOON = { "retry-after": "0.01" };

function isFailing(answer: Exclude<Told, "compacted">): answer is Failing {
  return typeof answer !== "object";
}

function claudeFailure(how: Failing) {
  if (how === "down") return claude.httpFailure(529, "overloaded_error", "Overloaded", SOON);
  if (how === "unsigned") {
    return claude.httpFailure(
      400,
      "invalid_request_error",
      "messages.1.content.0: Invalid `signature` in `thinking` block",
    );
  }
  return how === "refused"
    ? claude.httpFailure(400, "invalid_request_error", "No such thing.")
    : claude.rateLimited(how);
}

function openaiFailure(how: Failing) {
  if (how === "down") return responses.overloaded(0.01);
  if (how === "unsigned") {
    const message = "The encrypted content gAAA...IQ== could not be verified.";
    return responses.httpFailure(400, "invalid_request_error", message, "invalid_encrypted_content");
  }
  return how === "refused"
    ? responses.httpFailure(400, "invalid_request_error", "No such thing.")
    : responses.rateLimited(how);
}

const claudeStage = async (): Promise<Stage> => {
  const emulator = await claude.startAnthropicEmulator();
  return {
    url: emulator.url,
    script: (...answers) =>
      emulator.script(
        ...answers.map((one) => {
          if (one === "compacted") return [claude.compact("They spoke of the weather."), claude.stop("compaction")];
          return isFailing(one) ? claudeFailure(one) : one;
        }),
      ),
    requests: () =>
      emulator.requests.map(({ bodyText: body, status, visible, usage }) => ({
        ...{ body, status, visible },
        counted: usage && {
          input: usage.input_tokens,
          cacheRead: usage.cache_read_input_tokens,
          cacheWrite: usage.cache_creation_input_tokens,
        },
      })),
    reset: () => emulator.reset(),
    close: () => emulator.close(),
  };
};

/** Of the endpoints that count gross. */
function openaiStage(
  emulator: responses.OpenAIEmulator | chat.ChatEmulator,
  script: (answers: readonly Told[]) => void,
): Stage {
  return {
    url: emulator.url,
    script: (...answers) => script(answers),
    requests: () =>
      emulator.requests.map(({ bodyText: body, status, visible, usage }) => {
        const { cached_tokens: cacheRead = 0, cache_write_tokens: cacheWrite = 0 } = usage?.input_tokens_details ?? {};
        const counted = usage && { input: usage.input_tokens - cacheRead - cacheWrite, cacheRead, cacheWrite };
        return { body, status, visible, counted };
      }),
    reset: () => emulator.reset(),
    close: () => emulator.close(),
  };
}

const responsesStage = async (): Promise<Stage> => {
  const emulator = await responses.startOpenAIEmulator();
  return openaiStage(emulator, (answers) => {
    emulator.script(
      ...answers.map((one) => {
        if (one === "compacted") return responses.compact();
        return isFailing(one) ? openaiFailure(one) : one;
      }),
    );
  });
};

const chatStage = async (): Promise<Stage> => {
  const emulator = await chat.startChatEmulator();
  return openaiStage(emulator, (answers) => {
    emulator.script(
      ...answers.map((one) => {
        if (one === "compacted") throw new Error("This API compacts nothing by itself.");
        return isFailing(one) ? openaiFailure(one) : one;
      }),
    );
  });
};

const shipped = (model: string): Contender => ({
  name: `openai/${model}`,
  key: "openai",
  model,
  late: "extends",
  env: (url) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: url }),
  provider: () => openai,
  start: responsesStage,
  callLate: (name, input) => call(name, input),
  layout: responses.bodyLayout,
});

const compatible = (name: string, deferral: object): Contender => ({
  name,
  key: name,
  model: "some-model",
  late: "late_inline",
  step: 128,
  env: () => ({}),
  provider: (url) => openaiCompatible({ baseURL: url, apiKey: "key", ...deferral }),
  start: chatStage,
  callLate: (tool, input) => call(tool, input),
  layout: chat.bodyLayout,
});

export const CONTENDERS: readonly Contender[] = [
  {
    name: "anthropic/claude-sonnet-5",
    key: "anthropic",
    model: "claude-sonnet-5",
    late: "extends",
    env: (url) => ({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url }),
    provider: () => anthropic,
    start: claudeStage,
    callLate: (name, input) => call(name, input),
    layout: claude.bodyLayout,
  },
  // The three forms of the Responses API: searches in own namespaces, searches in the default one, added tools.
  { ...shipped("gpt-5.4"), step: 128 },
  shipped("gpt-5.6"),
  { ...shipped("gpt-5"), step: 128 },
  // A model that defers nothing.
  { ...shipped("gpt-4o"), late: "late_inline", step: 128 },
  compatible("acme", {}),
  {
    ...compatible("bridged", { deferral: "bridge" }),
    late: "extends",
    callLate: (name, input = {}) => call("call_tool", { name, arguments: input }),
  },
];
