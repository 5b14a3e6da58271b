import { DefinitionError } from "./definition-error.ts";
import { isCount, unknownOptions, unknownOptionsProblem } from "./options.ts";

/** What one owner may use, over all agents of the database. `false` sets no limit. */
export interface Quotas {
  /** Sessions in which a turn of the owner runs at once. */
  readonly turns: number | false;
  /** Sessions that are stored. */
  readonly sessions: number | false;
  /** Bytes that all sessions take in their objects. D1 holds about as much again. */
  readonly bytes: number | false;
  /** Tokens of a UTC day that were not read from a prompt cache: input, written to the cache, output. */
  readonly tokensPerDay: number | false;
}

export const QUOTAS: Quotas = Object.freeze({
  turns: 20,
  sessions: 10_000,
  bytes: 2_000_000_000,
  tokensPerDay: 20_000_000,
});

/** The quotas as a worker asked for them, the others at their defaults. Throws {@link DefinitionError}. */
export function checkedQuotas(options: Partial<Quotas>): Quotas {
  const known = Object.keys(QUOTAS);
  const unknown = unknownOptions(options, known);
  if (unknown.length > 0) throw new DefinitionError(unknownOptionsProblem("quotas", unknown, known), {});
  const quotas = { ...QUOTAS, ...options };
  for (const [name, value] of Object.entries(quotas)) {
    if (value !== false && !isCount(value, 1)) {
      throw new DefinitionError(`quotas.${name} must be a whole number above 0, or false for none`, {});
    }
  }
  return quotas;
}
