import { type Fraction, floorOf, fraction, power, readFraction, toFloat } from "./fraction.ts";

/** Exact for as long as only + - * / % ^ and exact functions made it; a float after that. */
type Value = Fraction | number;

/** What an expression comes to, in decimal digits. */
export interface Result {
  readonly text: string;
  /** Whether the digits are the whole truth; otherwise they were rounded, to 15 at most. */
  readonly isExact: boolean;
}

const FLOAT_FUNCTIONS: ReadonlyMap<string, (x: number) => number> = new Map<string, (x: number) => number>([
  ["cos", Math.cos],
  ["exp", Math.exp],
  ["ln", Math.log],
  ["log", Math.log10],
  ["sin", Math.sin],
  ["tan", Math.tan],
]);
const EXACT_FUNCTIONS: ReadonlyMap<string, (given: readonly Value[]) => Value> = new Map<
  string,
  (given: readonly Value[]) => Value
>([
  ["abs", ([x = 0]) => (isNegative(x) ? negated(x) : x)],
  ["ceil", ([x = 0]) => whole(x, (exact) => -floorOf({ n: -exact.n, d: exact.d }), Math.ceil)],
  ["floor", ([x = 0]) => whole(x, floorOf, Math.floor)],
  ["max", (given) => given.reduce((most, x) => (isNegative(minus(most, x)) ? x : most))],
  ["min", (given) => given.reduce((least, x) => (isNegative(minus(x, least)) ? x : least))],
  ["round", ([x = 0]) => whole(x, ({ n, d }) => floorOf({ n: 2n * n + d, d: 2n * d }), Math.round)],
  ["sqrt", ([x = 0]) => squareRoot(x)],
]);
const SEVERAL: ReadonlySet<string> = new Set(["max", "min"]);
const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);
const TOKEN = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[a-zA-Z]+|\*\*|[-+*/%^(),]|(?<other>\S)/g;

/**
 * The value of an arithmetic expression: `+ - * / % ^`, brackets, functions and the constants pi and e. `^` (or `**`)
 * binds to the right and more tightly than a sign. Whole numbers and fractions are exact up to about 1,000 digits.
 * Throws an error that says what is wrong.
 */
export function evaluate(expression: string): Result {
  const value = new Parser(tokens(expression)).whole();
  if (typeof value !== "number" && value.d === 1n) return { text: String(value.n), isExact: true };
  const rounded = Number(asFloat(value).toPrecision(15));
  if (!Number.isFinite(rounded)) throw new Error("The result is not a finite number, or it is too large.");
  const text = String(rounded);
  const read = readFraction(text);
  const isExact = typeof value !== "number" && read !== null && read.n === value.n && read.d === value.d;
  return { text, isExact };
}

function tokens(expression: string): string[] {
  const text = expression.replaceAll("×", "*").replaceAll("÷", "/").replaceAll("−", "-");
  return [...text.matchAll(TOKEN)].map((match) => {
    if (match.groups?.other === undefined) return match[0];
    throw new Error(`"${text.slice(match.index, match.index + 20)}" is not part of an expression.`);
  });
}

function asFloat(value: Value): number {
  return typeof value === "number" ? value : toFloat(value);
}

function isNegative(value: Value): boolean {
  return typeof value === "number" ? value < 0 : value.n < 0n;
}

function negated(value: Value): Value {
  return typeof value === "number" ? -value : { n: -value.n, d: value.d };
}

/** Exactly where both are exact and the result is not too large; as floats otherwise. */
function combine(
  a: Value,
  b: Value,
  exactly: (a: Fraction, b: Fraction) => Fraction | null,
  asFloats: (a: number, b: number) => number,
): Value {
  const exact = typeof a === "number" || typeof b === "number" ? null : exactly(a, b);
  return exact ?? asFloats(asFloat(a), asFloat(b));
}

function plus(a: Value, b: Value): Value {
  return combine(
    a,
    b,
    (x, y) => fraction(x.n * y.d + y.n * x.d, x.d * y.d),
    (x, y) => x + y,
  );
}

function minus(a: Value, b: Value): Value {
  return plus(a, negated(b));
}

function times(a: Value, b: Value): Value {
  return combine(
    a,
    b,
    (x, y) => fraction(x.n * y.n, x.d * y.d),
    (x, y) => x * y,
  );
}

function over(a: Value, b: Value): Value {
  return combine(
    a,
    notZero(b),
    (x, y) => fraction(x.n * y.d, x.d * y.n),
    (x, y) => x / y,
  );
}

/** The rest has the sign of what is divided: -7 % 3 is -1. */
function rest(a: Value, b: Value): Value {
  return combine(
    a,
    notZero(b),
    (x, y) => fraction((x.n * y.d) % (y.n * x.d), x.d * y.d),
    (x, y) => x % y,
  );
}

function raised(base: Value, exponent: Value): Value {
  return combine(
    base,
    exponent,
    (x, y) => (y.d === 1n ? power(x, y.n) : null),
    (x, y) => x ** y,
  );
}

function squareRoot(value: Value): Value {
  if (typeof value === "number" || value.n < 0n) return Math.sqrt(asFloat(value));
  const [n, d] = [value.n, value.d].map((part) => {
    const near = Math.round(Math.sqrt(Number(part)));
    return Number.isFinite(near) && BigInt(near) ** 2n === part ? BigInt(near) : null;
  });
  const exact = n === undefined || n === null || d === undefined || d === null ? null : fraction(n, d);
  return exact ?? Math.sqrt(toFloat(value));
}

function whole(value: Value, exactly: (exact: Fraction) => bigint, asFloats: (value: number) => number): Value {
  return typeof value === "number" ? asFloats(value) : { n: exactly(value), d: 1n };
}

function notZero(value: Value): Value {
  if (typeof value === "number" ? value === 0 : value.n === 0n) throw new Error("A division by zero.");
  return value;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  whole(): Value {
    const value = this.#sum();
    if (this.#at < this.#tokens.length) throw new Error(`"${this.#tokens[this.#at]}" is not expected there.`);
    return value;
  }

  #sum(): Value {
    let value = this.#product();
    for (;;) {
      if (this.#take("+")) value = plus(value, this.#product());
      else if (this.#take("-")) value = minus(value, this.#product());
      else return value;
    }
  }

  #product(): Value {
    let value = this.#signed();
    for (;;) {
      if (this.#take("*")) value = times(value, this.#signed());
      else if (this.#take("/")) value = over(value, this.#signed());
      else if (this.#take("%")) value = rest(value, this.#signed());
      else return value;
    }
  }

  #signed(): Value {
    if (this.#take("-")) return negated(this.#signed());
    if (this.#take("+")) return this.#signed();
    return this.#power();
  }

  #power(): Value {
    const base = this.#atom();
    return this.#take("^") || this.#take("**") ? raised(base, this.#signed()) : base;
  }

  #atom(): Value {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error("The expression ends too early.");
    if (token === "(") {
      const value = this.#sum();
      this.#close();
      return value;
    }
    if (/^[\d.]/.test(token)) return readFraction(token) ?? Number(token);
    const name = token.toLowerCase();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const asFloats = FLOAT_FUNCTIONS.get(name);
    const exactly = EXACT_FUNCTIONS.get(name);
    if (asFloats === undefined && exactly === undefined) throw new Error(`"${token}" is not expected there.`);
    const given = this.#inBrackets(name);
    if (given.length > 1 && !SEVERAL.has(name)) throw new Error(`${name} takes one number, not ${given.length}.`);
    return exactly?.(given) ?? asFloats?.(asFloat(given[0] ?? 0)) ?? 0;
  }

  #inBrackets(name: string): Value[] {
    if (!this.#take("(")) throw new Error(`${name} needs brackets: ${name}(…).`);
    const given = [this.#sum()];
    while (this.#take(",")) given.push(this.#sum());
    this.#close();
    return given;
  }

  #close(): void {
    if (!this.#take(")")) throw new Error("A bracket is not closed.");
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }
}
