import type { Failure } from "../failure.ts";
import { breakpointsAreTaken } from "./breakpoints.ts";
import { filesAreDocuments } from "./files.ts";
import { modelLimits } from "./model-limits.ts";
import { callsHaveTheirNamespace, compactKnowsNoNamespace } from "./namespaces.ts";
import { callsAndOutputs } from "./pairing.ts";
import { reasoningIsReplayed } from "./reasoning.ts";
import {
  hasInput,
  idsAreWellFormed,
  previousResponseExists,
  referencedItemsExist,
  triggerComesLast,
} from "./references.ts";
import type { Rule, RuleInput } from "./rule.ts";
import {
  clientSearchIsDescribed,
  deferredToolsNeedSearch,
  functionsAreWellFormed,
  notTooManyTools,
  toolChoiceIsThere,
  toolNamesAreUnique,
} from "./tools.ts";

/** The rules that look at a well-formed body, in the order in which they speak: the first failure is the answer. */
const rules: readonly Rule[] = [
  hasInput,
  notTooManyTools,
  toolNamesAreUnique,
  functionsAreWellFormed,
  deferredToolsNeedSearch,
  clientSearchIsDescribed,
  modelLimits,
  breakpointsAreTaken,
  previousResponseExists,
  idsAreWellFormed,
  compactKnowsNoNamespace,
  triggerComesLast,
  referencedItemsExist,
  filesAreDocuments,
  reasoningIsReplayed,
  callsAndOutputs,
  callsHaveTheirNamespace,
  toolChoiceIsThere,
];

/** The first rule that a request breaks. */
export function firstFailure(input: RuleInput): Failure | null {
  for (const rule of rules) {
    const failure = rule(input);
    if (failure !== null) return failure;
  }
  return null;
}
