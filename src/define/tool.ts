import type { Risk } from "../values/tool.ts";
import { DefinitionError } from "./definition-error.ts";
import { type Duration, durationMs } from "./duration.ts";
import { type InputOf, type InputSchema, readInput, schemaProblem } from "./input.ts";
import { nameProblem } from "./names.ts";
import { unknownOptions, unknownOptionsProblem } from "./options.ts";
import type { Tool, ToolContext } from "./types.ts";

/** What a tool is made of. `I` follows from `input`. */
export interface ToolOptions<I extends InputSchema | undefined = undefined> {
  readonly name: string;
  /** What the tool does and when to use it: models read it, and the search tool finds the tool by it. */
  readonly description: string;
  /** Any Standard JSON Schema or plain JSON Schema (draft 2020-12) of an object. Left out: the tool takes nothing. */
  readonly input?: I;
  /** Default `write`. A `destructive` tool is refused unless its agent allows that. */
  readonly risk?: Risk;
  /** How long a call may take; default 60 s. */
  readonly timeout?: Duration;
  /** May be run again when it is not known whether it ran; default false. */
  readonly idempotent?: boolean;
  /**
   * Returns a string, any JSON value, or `{ content }` of parts. The call failed if it throws or returns
   * `{ isError: true, … }`.
   */
  execute(input: InputOf<I>, context: ToolContext): unknown;
}

const OPTIONS = ["name", "description", "input", "risk", "timeout", "idempotent", "execute"];
const DEFAULT_TIMEOUT_MS = 60_000;

/** Makes a tool. Throws {@link DefinitionError} when it can't work as it is defined. */
export function defineTool<I extends InputSchema | undefined = undefined>(options: ToolOptions<I>): Tool {
  const { name, description, risk = "write", idempotent = false } = options;
  const unknown = unknownOptions(options, OPTIONS);
  if (unknown.length > 0) throw new DefinitionError(unknownOptionsProblem("a tool", unknown, OPTIONS), { tool: name });
  if (typeof options.execute !== "function") throw new DefinitionError("execute must be a function", { tool: name });

  const timeoutMs = options.timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(options.timeout);
  if (timeoutMs === null) {
    throw new DefinitionError('timeout must be milliseconds above 0 or a text like "10s"', { tool: name });
  }
  const input = inputOf(options);
  // A method's parameters are bivariant: this is where the type of the input is forgotten. `validate` guards it.
  const erased: { execute(input: unknown, context: ToolContext): unknown } = options;
  const tool: Tool = {
    spec: { name, description, inputSchema: input.schema },
    risk,
    idempotent,
    timeoutMs,
    lazy: false,
    validate: input.validate,
    run: async (value, context) => erased.execute(value, context),
  };
  const problem = toolProblem(tool);
  if (problem !== null) throw new DefinitionError(problem, { tool: name });
  return tool;
}

/** What is wrong with a tool, however it was made, or null. */
export function toolProblem(tool: Tool): string | null {
  const { name, description, inputSchema } = tool.spec;
  const named = nameProblem("tool", name);
  if (named !== null) return named;
  if (typeof description !== "string" || description.trim() === "") return "its description is empty";
  if (!["read", "write", "destructive"].includes(tool.risk)) return 'risk must be "read", "write" or "destructive"';
  if (typeof tool.idempotent !== "boolean") return "idempotent must be true or false";
  if (durationMs(tool.timeoutMs) === null) return "timeout must be above 0";
  return schemaProblem(inputSchema);
}

function inputOf(options: { readonly name: string; readonly input?: InputSchema | undefined }) {
  try {
    return readInput(options.input);
  } catch (thrown) {
    throw new DefinitionError(thrown instanceof Error ? thrown.message : String(thrown), { tool: options.name });
  }
}
