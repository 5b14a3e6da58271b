import { type Failure, invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

/** What a model does not take. The vendor's texts are general knowledge. */
export const modelLimits: Rule = ({ body, model }) => {
  for (const field of ["temperature", "top_p"] as const) {
    if (body[field] != null && !model.sampling) return unsupported(field);
  }
  if (model.reasoning) return null;
  if (body.reasoning?.effort) return unsupported("reasoning.effort");
  if (body.include?.includes("reasoning.encrypted_content")) {
    return invalid("E-O02", "Encrypted content is not supported with this model.", "include");
  }
  return null;
};

function unsupported(param: string): Failure {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return invalid("E-O02", message, param, "unsupported_parameter");
}
