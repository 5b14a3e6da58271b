import type { ModelFacts } from "../contract.ts";

/** What an OpenAI model can do, beside what every provider's table says. */
export interface OpenAIFacts extends ModelFacts {
  /**
   * How a tool joins a running conversation: as the output of a search that the client executes, as an
   * `additional_tools` item, or not at all. A new epoch takes it from here; a running one keeps the form it began with.
   */
  readonly load: "search" | "additional" | "none";
  /** Thinks; its encrypted reasoning is asked for and replayed. */
  readonly reasoning: boolean;
  /** Takes explicit cache breakpoints (`gpt-5.6` and later). */
  readonly breakpoints: boolean;
}

/**
 * Families of models (documentation and recordings, August to November 2026; `docs/providers.md`). A variant
 * (`gpt-5.4-mini`) or a snapshot (`gpt-5.4-2026-03-05`) is of the family it is named after. Sizes in tokens.
 */
const TABLE: Readonly<Record<string, OpenAIFacts>> = {
  "gpt-6.2": thinking({ load: "search", breakpoints: true, window: 1_050_000 }),
  "gpt-6.1": thinking({ load: "search", breakpoints: true, window: 1_050_000 }),
  "gpt-6": thinking({ load: "search", breakpoints: true, window: 1_050_000 }),
  "gpt-5.6": thinking({ load: "search", breakpoints: true, window: 1_050_000 }),
  "gpt-5.5": thinking({ load: "search", breakpoints: false, window: 1_050_000 }),
  "gpt-5.4": thinking({ load: "search", breakpoints: false, window: 1_050_000 }),
  "gpt-5.3": thinking({ load: "additional", breakpoints: false, window: 400_000 }),
  "gpt-5.2": thinking({ load: "additional", breakpoints: false, window: 400_000 }),
  "gpt-5.1": thinking({ load: "additional", breakpoints: false, window: 400_000 }),
  "gpt-5": thinking({ load: "additional", breakpoints: false, window: 400_000 }),
  o3: { ...thinking({ load: "none", breakpoints: false, window: 200_000 }), maxOutput: 100_000, toolChanges: false },
  o4: { ...thinking({ load: "none", breakpoints: false, window: 200_000 }), maxOutput: 100_000, toolChanges: false },
  "gpt-4.1": { ...plain({ window: 1_000_000, maxOutput: 32_000 }), compacts: "when_asked" },
  "gpt-4o": { ...plain({ window: 128_000, maxOutput: 16_000 }), compacts: "when_asked" },
};

/** Smaller than their family. */
const SMALL_WINDOW = /^gpt-5\.[4-6]-(mini|nano|luna)\b/;

/** A model that is not in the table gets everything inline and no field beyond the usual: that is valid everywhere. */
const UNKNOWN: OpenAIFacts = plain({ window: 128_000, maxOutput: 16_000 });

export function modelFacts(model: string): OpenAIFacts {
  // A chat model of a thinking family doesn't think.
  if (model.includes("chat-latest")) return UNKNOWN;
  const family = /^(gpt-\d+(?:\.\d+)?o?|o\d)(?=-|$)/.exec(model)?.[1] ?? "";
  const facts = Object.hasOwn(TABLE, family) ? (TABLE[family] ?? UNKNOWN) : UNKNOWN;
  return SMALL_WINDOW.test(model) ? { ...facts, window: 400_000 } : facts;
}

/** Models that think by themselves and take no sampling settings. The Responses API has no stop sequences. */
function thinking(facts: Pick<OpenAIFacts, "load" | "breakpoints" | "window">): OpenAIFacts {
  return {
    ...facts,
    deferral: facts.load !== "none",
    toolChanges: true,
    bound: false,
    dropsThinking: false,
    minCache: 1024,
    maxOutput: 128_000,
    refuses: new Set(["temperature", "topP", "stop"] as const),
    thinking: "adaptive",
    reasoning: true,
    compacts: "when_asked",
  };
}

function plain(facts: Pick<OpenAIFacts, "window" | "maxOutput">): OpenAIFacts {
  return {
    ...facts,
    load: "none",
    deferral: false,
    toolChanges: false,
    bound: false,
    dropsThinking: false,
    minCache: 1024,
    refuses: new Set(["effort", "stop"] as const),
    maxTemperature: 2,
    thinking: "none",
    reasoning: false,
    breakpoints: false,
  };
}
