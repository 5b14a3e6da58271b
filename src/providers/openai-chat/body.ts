import type { CallSettings } from "../../values/settings.ts";
import type { Item, ModelRequest } from "../contract.ts";
import { withBlobs } from "../with-blobs.ts";

/** The request's body, written by us byte for byte: epoch settings, this call's settings, tools, messages. */
export function writeBody({ prefix, items, deferred, call, blobs }: ModelRequest): { body: string; end: null } {
  const definitions = new Map(deferred.map(({ name, bytes }) => [name, bytes]));
  const fields = [
    prefix.settings,
    ...callFields(call),
    '"stream":true,"stream_options":{"include_usage":true}',
    ...(prefix.tools.length > 0 ? [`"tools":[${prefix.tools.map(({ bytes }) => bytes).join(",")}]`] : []),
    `"messages":[${[...prefix.system, ...items.map((item) => loaded(item, definitions))].join(",")}]`,
  ];
  return { body: withBlobs(`{${fields.join(",")}}`, blobs), end: null };
}

function callFields({ maxOutputTokens, temperature, topP, stop = [] }: CallSettings): string[] {
  const fields = [`"max_tokens":${maxOutputTokens}`];
  if (temperature !== undefined) fields.push(`"temperature":${temperature}`);
  if (topP !== undefined) fields.push(`"top_p":${topP}`);
  if (stop.length > 0) fields.push(`"stop":${JSON.stringify(stop)}`);
  return fields;
}

/** A message with the definitions it loads at the end of its text. */
function loaded({ bytes, loads = [] }: Item, definitions: ReadonlyMap<string, string>): string {
  if (loads.length === 0) return bytes;
  const lines = loads.map((name) => {
    const definition = definitions.get(name);
    if (definition === undefined) throw new Error("a message loads a tool that the request does not declare");
    return `\n${definition}`;
  });
  return `${bytes.slice(0, -'"}'.length)}${JSON.stringify(lines.join("")).slice(1, -1)}"}`;
}
