/** A number without the noise of binary fractions: 15 significant digits. */
export function tidy(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}
