import type { Item, ModelFacts, Provider } from "../providers/contract.ts";

/**
 * What tells the model, at the end of a request, which declared tools the mode withholds from here on and which are back
 * (design §3.4): nothing where it knows already, or is told in another way. The items stand before the answer that
 * follows, entry `seq`, and belong to the history only together with it: behind a message that was never answered they
 * could not be followed by another one.
 */
export function toolChanges(
  { provider, facts }: { readonly provider: Provider; readonly facts: ModelFacts },
  items: readonly Item[],
  declared: ReadonlySet<string>,
  allowed: (name: string) => boolean,
  seq: number,
): Item[] {
  const { toolChange } = provider;
  if (!facts.toolChanges || toolChange === undefined || items.at(-1)?.role !== "user") return [];
  const withheld = new Set<string>();
  for (const { withholds, restores } of items) {
    if (withholds !== undefined) withheld.add(withholds);
    if (restores !== undefined) withheld.delete(restores);
  }
  const made = { seq, role: "system", markable: true, ahead: true } as const;
  return [...declared].flatMap((name): Item[] => {
    if (!allowed(name) && !withheld.has(name)) {
      return [{ ...made, withholds: name, bytes: toolChange("withhold", name) }];
    }
    if (allowed(name) && withheld.has(name)) return [{ ...made, restores: name, bytes: toolChange("restore", name) }];
    return [];
  });
}
