/** What the emulator knows of a model. Sources: vendor documentation and recorded traffic; see `docs/emulators.md`. */
export interface Model {
  /** The alias, without a date. */
  readonly id: string;
  /** Tool search and `defer_loading`. */
  readonly deferral: boolean;
  /** System messages and tool changes in mid-conversation. */
  readonly systemRole: boolean;
  /** Signed thinking is bound to everything before it. */
  readonly prefixBound: boolean;
  /** Thinking of earlier turns stays in the prompt; on older models it is taken out when a new user turn begins. */
  readonly keepsThinking: boolean;
  /** The conversation may end with an assistant message. */
  readonly prefill: boolean;
  /** `thinking.type: "enabled"` is refused. */
  readonly adaptiveOnly: boolean;
  /** `temperature`, `top_p` and `top_k` are accepted. */
  readonly sampling: boolean;
  /** `tool_choice` `any` and `tool` are accepted. */
  readonly forcedToolChoice: boolean;
  /** Effort levels, empty where effort is not supported. */
  readonly efforts: readonly string[];
  /** The smallest prefix that is cached, in tokens. */
  readonly minCacheTokens: number;
  /** Context window in tokens. */
  readonly window: number;
}

type Traits = Omit<Model, "id">;

const old: Traits = {
  deferral: false,
  systemRole: false,
  prefixBound: false,
  keepsThinking: false,
  prefill: true,
  adaptiveOnly: false,
  sampling: true,
  forcedToolChoice: true,
  efforts: [],
  minCacheTokens: 1024,
  window: 200_000,
};
const four5: Traits = { ...old, deferral: true };
const four6: Traits = {
  ...four5,
  keepsThinking: true,
  prefill: false,
  efforts: ["high", "low", "max", "medium"],
  window: 1_000_000,
};
const four7: Traits = { ...four6, adaptiveOnly: true, sampling: false, efforts: [...four6.efforts, "xhigh"] };
const five: Traits = { ...four7, systemRole: true, minCacheTokens: 512 };
const bound: Traits = { ...five, prefixBound: true };

const traits: Readonly<Record<string, Traits>> = {
  "claude-3-opus": { ...old, minCacheTokens: 2048 },
  "claude-3-5-haiku": { ...old, minCacheTokens: 2048 },
  "claude-3-5-sonnet": old,
  "claude-3-7-sonnet": old,
  "claude-sonnet-4": old,
  "claude-sonnet-4-0": old,
  "claude-opus-4": old,
  "claude-opus-4-0": old,
  "claude-opus-4-1": old,
  "claude-sonnet-4-5": four5,
  "claude-haiku-4-5": { ...four5, minCacheTokens: 4096 },
  "claude-opus-4-5": { ...four5, keepsThinking: true, efforts: ["high", "low", "medium"], minCacheTokens: 4096 },
  "claude-sonnet-4-6": four6,
  "claude-opus-4-6": { ...four6, minCacheTokens: 4096 },
  "claude-mythos-preview": { ...four7, minCacheTokens: 2048 },
  "claude-opus-4-7": { ...four7, minCacheTokens: 2048 },
  "claude-opus-4-8": { ...four7, systemRole: true },
  "claude-sonnet-5": four7,
  "claude-fable-5": five,
  "claude-mythos-5": five,
  "claude-opus-5": five,
  "claude-haiku-5-5": { ...five, minCacheTokens: 1024 },
  "claude-mythos-5-1": five,
  "claude-mythos-5-2": five,
  "claude-sonnet-5-5": bound,
  "claude-opus-5-5": { ...bound, forcedToolChoice: false },
  "claude-fable-5-1": { ...bound, forcedToolChoice: false },
  "claude-fable-5-2": { ...bound, forcedToolChoice: false },
};

const known: ReadonlyMap<string, Model> = new Map(Object.entries(traits).map(([id, rest]) => [id, { id, ...rest }]));

/** The model behind a name, with or without a date or `-latest`; `undefined` if there is none. */
export function findModel(name: string): Model | undefined {
  return known.get(name.replace(/-(\d{8}|latest)$/, ""));
}

/** Every model the emulator knows. */
export function allModels(): readonly Model[] {
  return [...known.values()];
}
