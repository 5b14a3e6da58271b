import { invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

/** The id that `diagnostics` names is a message id. */
export const diagnosticsId: Rule = ({ body }) => {
  const id = body.diagnostics?.previous_message_id;
  if (id === undefined || id === null || id.startsWith("msg_")) return null;
  return invalid(
    "E-A06",
    "diagnostics.previous_message_id: must be the `id` from a prior /v1/messages response (starts with `msg_`)",
  );
};
