import { tidy } from "./numbers.ts";

const FUNCTIONS: ReadonlyMap<string, (...given: number[]) => number> = new Map<string, (...given: number[]) => number>([
  ["abs", Math.abs],
  ["ceil", Math.ceil],
  ["cos", Math.cos],
  ["exp", Math.exp],
  ["floor", Math.floor],
  ["ln", Math.log],
  ["log", Math.log10],
  ["max", Math.max],
  ["min", Math.min],
  ["round", Math.round],
  ["sin", Math.sin],
  ["sqrt", Math.sqrt],
  ["tan", Math.tan],
]);
const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);
const TOKEN = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[a-zA-Z]+|\*\*|[-+*/%^(),]|(?<other>\S)/g;

/**
 * The value of an arithmetic expression: `+ - * / % ^`, brackets, functions and the constants pi and e. `^` (or `**`)
 * binds to the right and more tightly than a sign. Throws an error that says what is wrong.
 */
export function evaluate(expression: string): number {
  const parser = new Parser(tokens(expression));
  const value = tidy(parser.whole());
  if (!Number.isFinite(value)) throw new Error("The result is not a finite number (a division by zero?).");
  return value;
}

function tokens(expression: string): string[] {
  const text = expression.replaceAll("×", "*").replaceAll("÷", "/").replaceAll("−", "-");
  return [...text.matchAll(TOKEN)].map((match) => {
    if (match.groups?.other === undefined) return match[0];
    throw new Error(`"${text.slice(match.index, match.index + 20)}" is not part of an expression.`);
  });
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  whole(): number {
    const value = this.#sum();
    if (this.#at < this.#tokens.length) throw new Error(`"${this.#tokens[this.#at]}" is not expected there.`);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take("+")) value += this.#product();
      else if (this.#take("-")) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#take("*")) value *= this.#signed();
      else if (this.#take("/")) value /= this.#signed();
      else if (this.#take("%")) value %= this.#signed();
      else return value;
    }
  }

  #signed(): number {
    if (this.#take("-")) return -this.#signed();
    if (this.#take("+")) return this.#signed();
    return this.#power();
  }

  #power(): number {
    const base = this.#atom();
    return this.#take("^") || this.#take("**") ? base ** this.#signed() : base;
  }

  #atom(): number {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error("The expression ends too early.");
    if (token === "(") {
      const value = this.#sum();
      this.#close();
      return value;
    }
    if (/^[\d.]/.test(token)) return Number(token);
    const name = token.toLowerCase();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const apply = FUNCTIONS.get(name);
    if (apply === undefined) throw new Error(`"${token}" is not expected there.`);
    return apply(...this.#inBrackets(name));
  }

  #inBrackets(name: string): number[] {
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
