import { type Answerer, say } from "../../test/emulators/anthropic/index.ts";

/** Characters that the emulator cuts into so many deltas, which stand for tokens here. */
const TEXTS: Readonly<Record<number, string>> = {
  10: "abcdefghi ".repeat(4).padEnd(43, "."),
  200: "abcdefghi ".repeat(99).padEnd(995, "."),
};

/** Lengths that are measured. */
export const LENGTHS = [10, 200] as const;

/** What a client says to get an answer of that length. */
export function ask(tokens: number, n: number): string {
  return `Question ${n}, please answer in ${tokens} tokens.`;
}

export const model: Answerer = ({ lastUserText }) =>
  say(TEXTS[Number(/in (\d+) tokens/.exec(lastUserText)?.[1])] ?? "What?");
