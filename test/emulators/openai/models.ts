/** What the emulator knows of a model: where its rules and its prompt cache differ from the others'. */
export interface Model {
  /** Its name, without a date. */
  readonly id: string;
  /** `tool_search`, `defer_loading` and namespaces. Older models ignore them. */
  readonly toolSearch: boolean;
  /** Where a function lands that an item of the input loads: in a namespace of its own name, or in the default one. */
  readonly loads: { readonly search: Landing; readonly additional: Landing };
  /** Messages carry `phase`. */
  readonly phases: boolean;
  readonly reasoning: boolean;
  /** `temperature` and `top_p` are accepted. */
  readonly sampling: boolean;
  readonly cache: CacheKind;
  /** The most tools of one request; `null`: no limit is known. */
  readonly maxTools: number | null;
  /** Context window in tokens. */
  readonly window: number;
}

export type Landing = "own" | "default";

/**
 * How prompts are cached. `steps`: every multiple of so many tokens from 1,024 on, written for nothing. `boundaries`:
 * only where a prompt says so, or at the ends of its messages, and written for money.
 */
export type CacheKind = { readonly kind: "steps"; readonly step: number } | { readonly kind: "boundaries" };

type Traits = Omit<Model, "id">;

const classic: Traits = {
  toolSearch: false,
  loads: { search: "own", additional: "own" },
  phases: false,
  reasoning: false,
  sampling: true,
  cache: { kind: "steps", step: 128 },
  maxTools: 128,
  window: 128_000,
};
const reasoner: Traits = { ...classic, reasoning: true, sampling: false, window: 200_000 };
const five: Traits = { ...reasoner, window: 400_000 };
const fiveOne: Traits = { ...five, sampling: true };
const fiveFour: Traits = { ...fiveOne, toolSearch: true, phases: true, maxTools: null, window: 1_050_000 };
const fiveFive: Traits = { ...fiveFour, cache: { kind: "steps", step: 2048 } };
const fiveSix: Traits = {
  ...fiveFour,
  loads: { search: "default", additional: "default" },
  cache: { kind: "boundaries" },
};

const families: Readonly<Record<string, Traits>> = {
  "gpt-3.5-turbo": { ...classic, window: 16_385 },
  "gpt-4": { ...classic, window: 8_192 },
  "gpt-4-turbo": classic,
  "gpt-4o": classic,
  "gpt-4o-mini": classic,
  "chatgpt-4o-latest": classic,
  "gpt-4.1": { ...classic, window: 1_047_576 },
  "gpt-4.1-mini": { ...classic, window: 1_047_576 },
  "gpt-4.1-nano": { ...classic, window: 1_047_576 },
  "computer-use-preview": reasoner,
  o1: reasoner,
  "o1-mini": reasoner,
  "o1-pro": reasoner,
  o3: reasoner,
  "o3-mini": reasoner,
  "o3-pro": reasoner,
  "o4-mini": reasoner,
  "codex-mini-latest": reasoner,
  "gpt-5": five,
  "gpt-5-mini": five,
  "gpt-5-nano": five,
  "gpt-5-pro": five,
  "gpt-5-codex": five,
  "gpt-5.1": fiveOne,
  "gpt-5.1-mini": fiveOne,
  "gpt-5.1-codex": fiveOne,
  "gpt-5.1-codex-max": fiveOne,
  "gpt-5.2": fiveOne,
  "gpt-5.2-pro": fiveOne,
  "gpt-5.4": fiveFour,
  "gpt-5.4-mini": fiveFour,
  "gpt-5.4-nano": fiveFour,
  "gpt-5.5": fiveFive,
  "gpt-5.5-pro": fiveFive,
  "gpt-5.6": fiveSix,
  "gpt-5.6-sol": fiveSix,
  "gpt-5.6-terra": fiveSix,
  "gpt-5.6-luna": fiveSix,
  "gpt-6-astra": fiveSix,
  "gpt-6-sol": fiveSix,
  "gpt-6-luna": fiveSix,
  "gpt-6.1-sol": fiveSix,
  "gpt-6.1-terra": fiveSix,
  "gpt-6.2-astra": fiveSix,
  "gpt-6.2-sol": fiveSix,
};

const known: ReadonlyMap<string, Model> = new Map(Object.entries(families).map(([id, rest]) => [id, { id, ...rest }]));

/** The model behind a name, with or without a date; `undefined` if there is none. */
export function findModel(name: string): Model | undefined {
  return known.get(name.replace(/-\d{4}-\d{2}-\d{2}$/, ""));
}

/** Every model the emulator knows. */
export function allModels(): readonly Model[] {
  return [...known.values()];
}
