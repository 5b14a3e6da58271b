import type { NamespaceBehaviour } from "../availability.ts";
import type { Failure } from "../failure.ts";
import type { Model } from "../models.ts";
import type { Item } from "../schema/items.ts";
import type { AnyRequest } from "../schema/request.ts";

/** The three operations that the emulator knows. */
export type Endpoint = "responses" | "compact" | "input_tokens";

/** What rules ask besides the request. */
export interface RuleSettings {
  /** `any` believes ids, blobs and conversations that were made elsewhere. */
  readonly foreign: "own" | "any";
  readonly namespaces: NamespaceBehaviour;
  /** The most tools of one request; `null`: no limit. Absent: as the model has it. */
  readonly maxTools?: number | null | undefined;
  /** The items of a stored response, its input's and its own. */
  stored(responseId: string): readonly Item[] | undefined;
  /** The stored item with this id. */
  storedItem(id: string): Item | undefined;
}

export interface RuleInput {
  readonly endpoint: Endpoint;
  readonly body: AnyRequest;
  /** The items of this request, in place of references what they name. Their index is their place in `input`. */
  readonly items: readonly Item[];
  /** What stands before them in a stored response; `null` if that was made elsewhere. */
  readonly earlier: readonly Item[] | null;
  readonly model: Model;
  readonly settings: RuleSettings;
}

/** Says what is wrong with a request, or `null`. */
export type Rule = (input: RuleInput) => Failure | null;
