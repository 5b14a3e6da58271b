import type { ModelFacts } from "../contract.ts";

/**
 * What each model can do (vendor's documentation, August to November 2026). Sizes in tokens. A dated name
 * (`claude-sonnet-4-5-20250929`) is the model it is a snapshot of.
 */
const TABLE: Readonly<Record<string, ModelFacts>> = {
  "claude-fable-5-1": newest({ bound: true, minCache: 512 }),
  "claude-opus-5-5": newest({ bound: true, minCache: 512 }),
  "claude-sonnet-5-5": newest({ bound: true, minCache: 512 }),
  "claude-fable-5": newest({ bound: false, minCache: 512 }),
  "claude-opus-5": newest({ bound: false, minCache: 512 }),
  "claude-opus-4-8": newest({ bound: false, minCache: 1024 }),
  "claude-sonnet-5": { ...newest({ bound: false, minCache: 1024 }), toolChanges: false },
  "claude-opus-4-7": { ...newest({ bound: false, minCache: 2048 }), toolChanges: false },
  "claude-opus-4-6": { ...sampled({ minCache: 4096, thinking: "adaptive" }), compacts: "at_length" },
  "claude-sonnet-4-6": { ...sampled({ minCache: 1024, thinking: "adaptive" }), compacts: "at_length" },
  "claude-opus-4-5": sampled({ minCache: 4096, thinking: "manual" }),
  "claude-sonnet-4-5": { ...sampled({ minCache: 1024, thinking: "manual" }), dropsThinking: true },
  "claude-haiku-4-5": { ...sampled({ minCache: 4096, thinking: "manual" }), dropsThinking: true },
  "claude-opus-4-1": inline({ minCache: 1024 }),
  "claude-opus-4-0": inline({ minCache: 1024 }),
  "claude-sonnet-4-0": inline({ minCache: 1024 }),
};

/** A model that is not in the table gets everything inline and no field beyond the usual: that is valid everywhere. */
const UNKNOWN: ModelFacts = { ...inline({ minCache: 1024 }), diagnostics: false };

export function modelFacts(model: string): ModelFacts {
  return TABLE[model] ?? TABLE[model.replace(/-\d{8}$/, "")] ?? UNKNOWN;
}

/** Models that take no sampling settings (E-A31) and think by themselves. */
function newest(facts: Pick<ModelFacts, "bound" | "minCache">): ModelFacts {
  return {
    ...facts,
    deferral: true,
    toolChanges: true,
    dropsThinking: false,
    window: 1_000_000,
    maxOutput: 64_000,
    refuses: new Set(["temperature", "topP"] as const),
    thinking: "adaptive",
    compacts: "at_length",
    diagnostics: true,
  };
}

/** Models that take a temperature from 0 to 1, or a `top_p` in its place. */
function sampled(facts: Pick<ModelFacts, "minCache" | "thinking">): ModelFacts {
  const refuses = facts.thinking === "manual" ? (["effort"] as const) : ([] as const);
  return {
    ...facts,
    deferral: true,
    toolChanges: false,
    dropsThinking: false,
    bound: false,
    window: 200_000,
    maxOutput: 64_000,
    refuses: new Set(refuses),
    maxTemperature: 1,
    oneSampling: true,
    diagnostics: true,
  };
}

function inline(facts: Pick<ModelFacts, "minCache">): ModelFacts {
  return { ...sampled({ ...facts, thinking: "manual" }), deferral: false, dropsThinking: true, maxOutput: 32_000 };
}
