/** What is part of the provider's cache key and therefore fixed per epoch (design §3.4). */
export interface EpochSettings {
  readonly effort?: "low" | "medium" | "high";
  /** Thinking budget in tokens where the model's thinking is manual; true asks an adaptive model to think. */
  readonly thinking?: number | boolean;
  /** Whether the model may call several tools at once; default true. */
  readonly parallelCalls?: boolean;
  readonly cacheTtl?: "5m" | "1h";
  /** Tokens of input at which the provider compacts the context by itself; absent leaves that to us. */
  readonly compactAt?: number;
}

/** What may differ between two requests of one epoch without breaking the prefix. */
export interface CallSettings {
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
}
