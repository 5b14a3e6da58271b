/** Milliseconds, or a number with its unit: `"500ms"`, `"10s"`, `"2m"`, `"1h"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h"}`;

const UNITS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** `setTimeout` takes no more; above that it fires at once. */
const LONGEST_MS = 2_147_483_647;

/** Milliseconds of a duration, or null when it is none, not above zero, or longer than a timer can wait (24 days). */
export function durationMs(duration: unknown): number | null {
  const ms = typeof duration === "string" ? parse(duration) : duration;
  return typeof ms === "number" && ms > 0 && ms <= LONGEST_MS ? ms : null;
}

function parse(text: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return Number(amount) * (UNITS.get(unit) ?? Number.NaN);
}
