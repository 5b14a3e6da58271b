/** An exact number: `n / d` in lowest terms, `d` above 0. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

/** About 1,000 decimal digits. A larger number is worked out with as a float, so that no expression takes long. */
const MOST_BITS = 3_322;

/** `n / d` in lowest terms, or null where it is too large to stay exact. `d` must not be 0. */
export function fraction(n: bigint, d = 1n): Fraction | null {
  if (d === 1n) return bits(n) > MOST_BITS ? null : { n, d };
  const by = divisor(n < 0n ? -n : n, d < 0n ? -d : d) * (d < 0n ? -1n : 1n);
  return bits(n / by) > MOST_BITS || bits(d / by) > MOST_BITS ? null : { n: n / by, d: d / by };
}

/** What `12`, `1.5` or `2e-3` says, or null where its exponent is too large. */
export function readFraction(decimal: string): Fraction | null {
  const [, sign, whole = "", part = "", exponent = "0"] =
    /^(-?)(\d*)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(decimal) ?? [];
  const power = Number(exponent) - part.length;
  if (Math.abs(power) > 1_000) return null;
  const digits = BigInt(`${whole}${part}`) * (sign === "-" ? -1n : 1n);
  return power < 0 ? fraction(digits, 10n ** BigInt(-power)) : fraction(digits * 10n ** BigInt(power));
}

/** `base` to a whole power, or null where the result is too large to stay exact. Throws for a negative power of 0. */
export function power(base: Fraction, exponent: bigint): Fraction | null {
  if (exponent < 0n) {
    if (base.n === 0n) throw new Error("A division by zero.");
    const inverse = fraction(base.d, base.n);
    return inverse && power(inverse, -exponent);
  }
  if (exponent === 0n) return { n: 1n, d: 1n };
  if (base.d === 1n && base.n * base.n <= 1n) return { n: exponent % 2n === 0n ? base.n * base.n : base.n, d: 1n };
  // At least so many bits come out, since a number of b bits is at least 2^(b-1).
  const least = BigInt(Math.max(bits(base.n), bits(base.d)) - 1) * exponent;
  return least > MOST_BITS ? null : fraction(base.n ** exponent, base.d ** exponent);
}

/** The nearest float, more or less: Infinity where it is too large. */
export function toFloat({ n, d }: Fraction): number {
  const shift = BigInt(Math.max(0, Math.max(bits(n), bits(d)) - 1_000));
  return Number(n >> shift) / Number(d >> shift);
}

/** The largest whole number that is not above it. */
export function floorOf({ n, d }: Fraction): bigint {
  const quotient = n / d;
  return n < 0n && quotient * d !== n ? quotient - 1n : quotient;
}

function bits(n: bigint): number {
  return (n < 0n ? -n : n).toString(2).length;
}

function divisor(a: bigint, b: bigint): bigint {
  let [large, small] = [a, b];
  while (small > 0n) [large, small] = [small, large % small];
  return large;
}
