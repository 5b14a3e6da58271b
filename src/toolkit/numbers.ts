/** A number without the noise of binary fractions: 15 significant digits. */
export function tidy(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}

/** The sum, with what each addition rounds off carried along (Neumaier), so that small numbers count beside large ones. */
export function sumOf(numbers: readonly number[]): number {
  let [sum, lost] = [0, 0];
  for (const n of numbers) {
    const next = sum + n;
    lost += Math.abs(sum) >= Math.abs(n) ? sum - next + n : n - next + sum;
    sum = next;
  }
  return sum + lost;
}
