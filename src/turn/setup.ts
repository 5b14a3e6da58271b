import type { Agent } from "../define/types.ts";
import type { Marks } from "../prefix/marks.ts";
import type { ModelFacts, Provider } from "../providers/contract.ts";
import type { Numbered } from "../values/entry.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";

/** What a request is made with, the same for all steps of a turn. */
export interface Setup {
  readonly agent: Agent;
  readonly provider: Provider;
  /** `provider/model`. */
  readonly fullModel: string;
  /** The model's name without its provider. */
  readonly model: string;
  readonly facts: ModelFacts;
  /** What a provider routes the session's requests by. */
  readonly cacheKey: string;
  readonly settings: { readonly call: CallSettings; readonly epoch: EpochSettings };
  /** The agent's instructions; asked at most once in a session's baseline. */
  instructions(): Promise<string>;
  /** The whole effective context, read from the session: for requests that can't go on from frozen bytes. */
  whole(): Promise<Numbered[]>;
  /** The marks of the chain's epoch as the session holds them, asked only after a mismatch; null where they can't be had. */
  marks(): Promise<Marks | null>;
  now(): number;
  mintId(): string;
}
