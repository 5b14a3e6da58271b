import { expect, test } from "vitest";
import { alignHistory, comparableText } from "../../src/context/align-history.ts";

const user = (text: string) => ({ role: "user" as const, text: comparableText("user", text) });
const stored = (texts: readonly string[]) =>
  texts.flatMap((text, index) => [
    { ...user(text), seq: 2 * index + 1 },
    { role: "assistant" as const, text: "ok", seq: 2 * index + 2 },
  ]);

test.each([
  ["<details>log 1</details> explain", "<details>log 2</details> explain"],
  ["if x:\n    y", "if x:\ny"],
  ["a  b", "a b"],
])("a user message that differs in any character inside is another message: %j", (first, second) => {
  expect(alignHistory(stored([first]), [user(second)])).toEqual({ kind: "append" });
});

test.each([
  ["hello", "hello"],
  ["two\nlines", "two\r\nlines\n"],
])("line ends and white space around it make no other message: %j", (first, second) => {
  expect(alignHistory(stored([first]), [user(second)])).toEqual({ kind: "regenerate", user: 1 });
});
