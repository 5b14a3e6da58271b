import type { Failure } from "../failure.ts";
import type { Model } from "../models.ts";
import type { AnyRequest } from "../schema/request.ts";

/** All that a rule may look at. */
export interface RuleInput {
  readonly body: AnyRequest;
  readonly model: Model;
  readonly betas: ReadonlySet<string>;
}

/** A pure check of one request: what is wrong, or `null`. */
export type Rule = (input: RuleInput) => Failure | null;
