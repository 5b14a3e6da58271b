import { invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

/** E-A31: what some models refuse. The vendor's texts for forced tools and for sampling are not known. */
export const modelLimits: Rule = ({ body, model }) => {
  const choice = body.tool_choice?.type;
  const forced = choice === "any" || choice === "tool";
  if (forced && !model.forcedToolChoice) {
    return invalid("E-A31", `tool_choice: type '${choice}' is not supported on this model`);
  }
  if (body.thinking?.type === "enabled" && model.adaptiveOnly) {
    return invalid(
      "E-A31",
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    );
  }
  const effort = body.output_config?.effort;
  if (effort && model.efforts.length === 0) {
    return invalid("E-A31", "This model does not support the effort parameter.");
  }
  if (effort && !model.efforts.includes(effort)) {
    return invalid(
      "E-A31",
      `This model does not support effort level '${effort}'. Supported levels: ${model.efforts.join(", ")}.`,
    );
  }
  const sampling = (["temperature", "top_p", "top_k"] as const).find((field) => body[field] !== undefined);
  if (sampling !== undefined && !model.sampling) {
    return invalid("E-A31", `\`${sampling}\` is not supported on this model`);
  }
  return null;
};

/** `max_tokens: 0` only warms the cache, and goes with nothing that asks for an answer. The vendor's text is not known. */
export const prewarming: Rule = ({ body }) => {
  if (body.max_tokens !== 0) return null;
  const choice = body.tool_choice?.type;
  const thinks = body.thinking?.type === "enabled" || body.thinking?.type === "adaptive";
  if (!body.stream && !thinks && !body.output_config?.format && choice !== "any" && choice !== "tool") return null;
  return invalid(
    "E-A31",
    "max_tokens: 0 cannot be used with stream, thinking, structured output or a forced tool choice",
  );
};
