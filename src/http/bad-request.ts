import type { ZodType } from "zod";
import { HoldfastError } from "../values/errors.ts";

/** A 400 that says where (`messages[2].content`) and what. `code` where OpenAI has one of its own for it. */
export function badRequest(path: string, problem: string, code?: string): HoldfastError {
  return new HoldfastError({
    reason: "bad_request",
    message: path === "" ? problem : `${path}: ${problem}`,
    ...(path === "" ? {} : { path }),
    ...(code === undefined ? {} : { code }),
  });
}

/** Reads `value` by `schema`; throws a {@link badRequest} for the first thing in it that does not fit. */
export function parse<T>(schema: ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw badRequest(pathText(issue?.path ?? []), issue?.message ?? "is not valid");
}

/** `["messages", 2, "content"]` as `messages[2].content`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}
