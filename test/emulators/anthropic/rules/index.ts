import type { Failure } from "../failure.ts";
import { blocksFitTheirRole, hasMessages, noPrefill, textsSaySomething } from "./conversation.ts";
import { diagnosticsId } from "./diagnostics.ts";
import { gatedFields } from "./gated-fields.ts";
import { inputSchemas } from "./input-schema.ts";
import { cacheMarkers } from "./markers.ts";
import { modelLimits, prewarming } from "./model-limits.ts";
import { callsAndResults, serverCallsHaveResults } from "./pairing.ts";
import { referencesResolve } from "./references.ts";
import { failedResultsAreText, referencesStandAlone } from "./results.ts";
import type { Rule, RuleInput } from "./rule.ts";
import { systemMessages } from "./system-messages.ts";
import {
  deferredToolsHaveNoMarker,
  modelHasToolSearch,
  notTooManyDeferred,
  searchToolHasItsName,
  searchToolIsNotDeferred,
  someToolIsNotDeferred,
  toolNames,
} from "./tools.ts";

/** The rules that look at a well-formed body, in the order in which they speak: the first failure is the answer. */
const rules: readonly Rule[] = [
  gatedFields,
  diagnosticsId,
  toolNames,
  inputSchemas,
  searchToolHasItsName,
  searchToolIsNotDeferred,
  someToolIsNotDeferred,
  deferredToolsHaveNoMarker,
  notTooManyDeferred,
  cacheMarkers,
  hasMessages,
  systemMessages,
  blocksFitTheirRole,
  textsSaySomething,
  callsAndResults,
  serverCallsHaveResults,
  noPrefill,
  referencesStandAlone,
  failedResultsAreText,
  referencesResolve,
  modelHasToolSearch,
  modelLimits,
  prewarming,
];

/** The first rule that a request breaks. */
export function firstFailure(input: RuleInput): Failure | null {
  for (const rule of rules) {
    const failure = rule(input);
    if (failure !== null) return failure;
  }
  return null;
}
