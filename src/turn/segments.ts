import { type Marks, mark, type PrefixMarks } from "../prefix/marks.ts";
import type { Definition, Item, Prefix } from "../providers/contract.ts";

/** The frozen bytes of a request. */
export interface Frozen {
  readonly prefix: Prefix;
  readonly deferred: readonly Definition[];
  readonly items: readonly Item[];
}

/** What the provider renders, in its order: settings, inline tools, system, items with the definitions they load. */
export function segments({ prefix, deferred, items }: Frozen): string[] {
  const definitions = new Map(deferred.map(({ name, bytes }) => [name, bytes]));
  return [
    prefix.settings,
    ...prefix.tools.map(({ bytes }) => bytes),
    ...prefix.system,
    ...items.map((item) => [item.bytes, ...(item.loads ?? []).map((name) => definitions.get(name) ?? name)].join("\n")),
  ];
}

/** The marks of all that. A definition has its own, so an item's covers only the names it loads. */
export function marksOf({ prefix, deferred, items }: Frozen): Marks {
  return { prefix: prefixMarks(prefix), deferred: deferred.map(definitionMark), items: items.map(itemMark) };
}

export function prefixMarks({ settings, tools, system }: Prefix): PrefixMarks {
  return { settings: mark(settings), tools: tools.map(definitionMark), system: system.map(mark) };
}

export function definitionMark({ name, bytes }: Definition): string {
  return mark(`${name}\n${bytes}`);
}

export function itemMark({ bytes, loads = [] }: Item): string {
  return mark([bytes, ...loads].join("\n"));
}
