import type { ModelRequest } from "../contract.ts";

/** The body of a request: everything in the order in which it grows. */
export function writeBody({ prefix, deferred, items, call }: ModelRequest): { body: string; end: number | null } {
  const list = (texts: readonly string[]) => `[${texts.join(",")}]`;
  const body = [
    prefix.settings,
    `"maxOutputTokens":${call.maxOutputTokens}`,
    `"stop":${JSON.stringify(call.stop ?? [])}`,
    `"tools":${list(prefix.tools.map(({ bytes }) => bytes))}`,
    `"deferred":${list(deferred.map(({ bytes }) => bytes))}`,
    `"system":${list(prefix.system)}`,
    `"items":${list(items.map(({ role, bytes }) => `{"role":"${role}","block":${bytes}}`))}`,
  ].join(",");
  return { body: `{${body}}`, end: items.length === 0 ? null : items.length - 1 };
}
