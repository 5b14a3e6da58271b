import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  alignHistory,
  contentText,
  normaliseText,
  type SentMessage,
  type StoredMessage,
  storedMessages,
} from "../../src/context/align-history.ts";
import { answer, numbered, results, user } from "./entries.ts";

/** `u:text` and `a:text` as messages; ours are numbered from 1. */
const messages = (...texts: readonly string[]): SentMessage[] =>
  texts.map((text) => ({ role: text.startsWith("u:") ? "user" : "assistant", text: text.slice(2) }));
const stored = (...texts: readonly string[]): StoredMessage[] =>
  messages(...texts).map((message, index) => ({ ...message, seq: index + 1 }));

describe("normalised text", () => {
  test.each([
    ["  a \n\t b ", "a b"],
    ["<think>why</think>\n\nHello", "Hello"],
    ['<details type="reasoning" done="true"><summary>x</summary>y</details> Hello', "Hello"],
    ["<details><details>in</details>out</details>left", "left"],
    ["<THINK>a</THINK>b", "b"],
    ["a <think> b", "a <think> b"],
    ["a </think> b", "a </think> b"],
    ["1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>"],
  ])("%j is %j", (text, normal) => {
    expect(normaliseText(text)).toBe(normal);
  });

  test("takes linear time, however a text is made to hurt it", () => {
    for (const piece of ["<details", "<details>", "<think>", "</details>", "<details><think>", " "]) {
      const since = performance.now();
      normaliseText(piece.repeat(200_000));
      expect(performance.now() - since).toBeLessThan(2_000);
    }
  });

  test("of a content is that of its text parts", () => {
    const image = { type: "image", source: { type: "url", url: "https://a/b" } } as const;
    expect(contentText([{ type: "text", text: "a" }, image, { type: "text", text: "b" }])).toBe("a\nb");
  });
});

describe("stored messages", () => {
  test("all that a turn said is one message, its steps apart", () => {
    const entries = numbered(user("q", "t1"), answer("one", "t1", "c1"), results(2, "c1"), answer("two", "t1"));
    expect(storedMessages(entries)).toEqual([
      { role: "user", text: "q", seq: 1 },
      { role: "assistant", text: "one two", seq: 2 },
    ]);
  });

  test("a turn that said nothing gives none", () => {
    const entries = numbered(user("q", "t1"), answer("", "t1", "c1"), results(2, "c1"), user("again", "t2"));
    expect(storedMessages(entries).map(({ text }) => text)).toEqual(["q", "again"]);
  });

  test("what a client brought stays as many messages as it was", () => {
    const client = (text: string) => ({ ...answer(text), origin: "client" as const });
    expect(storedMessages(numbered(client("a"), client("b")))).toHaveLength(2);
  });
});

describe("history alignment", () => {
  const ours = stored("u:one", "a:1", "u:two", "a:2");
  const failed = stored("u:one", "a:1", "u:two");
  test.each<[string, StoredMessage[], string[], unknown]>([
    ["the last message alone", ours, ["u:three"], { kind: "append" }],
    ["all our user messages", ours, ["u:one", "u:two"], { kind: "regenerate", user: 3 }],
    ["all our user messages after a failed turn", failed, ["u:one", "u:two"], { kind: "rerun", user: 3 }],
    ["the failed message alone", failed, ["u:two"], { kind: "rerun", user: 3 }],
    ["other user messages", ours, ["u:one", "u:three"], { kind: "append" }],
    ["our history and a new message", ours, ["u:one", "a:1", "u:two", "a:2", "u:three"], { kind: "append" }],
    ["our history up to the newest question", ours, ["u:one", "a:1", "u:two"], { kind: "regenerate", user: 3 }],
    ["our history with another newest question", ours, ["u:one", "a:1", "u:2"], { kind: "edited", user: 3 }],
    ["the failed message behind our history", failed, ["u:one", "a:1", "u:two"], { kind: "rerun", user: 3 }],
    ["another message after a failed one", failed, ["u:one", "a:1", "u:2"], { kind: "append" }],
    ["a message after a failed one that is shown", failed, ["u:one", "a:1", "u:two", "u:3"], { kind: "append" }],
    ["an answer of ours that was changed", ours, ["u:one", "a:X", "u:two"], { kind: "unrelated" }],
    ["only the end of our history", ours, ["u:two", "a:2", "u:three"], { kind: "unrelated" }],
    ["our history without the newest answer", ours, ["u:one", "a:1", "u:two", "u:three"], { kind: "append" }],
    ["an empty assistant message", ours, ["u:one", "a:1", "u:two", "a:", "u:three"], { kind: "append" }],
  ])("%s", (_, stored, sent, expected) => {
    expect(alignHistory(stored, messages(...sent))).toEqual(expected);
  });

  test("a failed message of ours that the client dropped does not end the match", () => {
    const gap = stored("u:one", "a:1", "u:lost", "u:two", "a:2");
    const sent = ["u:one", "a:1", "u:two", "a:2", "u:three"];
    expect(alignHistory(gap, messages(...sent))).toEqual({ kind: "append" });
    expect(alignHistory(gap, messages(...sent.slice(0, 3)))).toEqual({ kind: "regenerate", user: 4 });
  });

  test("against an empty session everything is new", () => {
    expect(alignHistory([], messages("u:one", "a:1", "u:two"))).toEqual({ kind: "append" });
  });

  const text = fc.stringMatching(/^[a-z]{1,8}$/);
  const history = fc
    .array(fc.tuple(text, text), { minLength: 1, maxLength: 8 })
    .map((turns) => stored(...turns.flatMap(([question, reply]) => [`u:${question}`, `a:${reply}`])));

  test("our whole history with any new message is always an append", () => {
    fc.assert(
      fc.property(history, text, (ours, fresh) => {
        const sent = [...ours, { role: "user", text: fresh } as const];
        expect(alignHistory(ours, sent)).toEqual({ kind: "append" });
      }),
    );
  });

  test("our history up to any question but the first is that question again, or an edited one", () => {
    fc.assert(
      fc.property(history, fc.nat(), text, (ours, pick, fresh) => {
        const at = 2 * (pick % (ours.length / 2));
        const question = ours[at];
        if (question === undefined || at === 0) return;
        const before = ours.slice(0, at);
        const again = alignHistory(ours, [...before, question]);
        const edited = alignHistory(ours, [...before, { role: "user", text: `${fresh}!` }]);
        expect(again).toEqual({ kind: "regenerate", user: question.seq });
        expect(edited).toEqual({ kind: "edited", user: question.seq });
      }),
    );
  });

  test("an answer of ours that reads otherwise makes it unrelated", () => {
    fc.assert(
      fc.property(history, fc.nat(), text, (ours, pick, fresh) => {
        const at = 2 * (pick % (ours.length / 2)) + 1;
        const sent = ours.map((message, index) => (index === at ? { ...message, text: `${message.text}!` } : message));
        expect(alignHistory(ours, [...sent, { role: "user", text: fresh }])).toEqual({ kind: "unrelated" });
      }),
    );
  });

  test("whatever a client sends, the answer names a user message of ours or none", () => {
    const any = fc.array(
      fc.record({ role: fc.constantFrom("user", "assistant"), text: fc.constantFrom("a", "b", "") }),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(any, any, (ours, theirs) => {
        const numbered = ours.map((message, index) => ({ ...message, seq: index + 1 }));
        const alignment = alignHistory(numbered, [...theirs, { role: "user", text: "a" }]);
        if ("user" in alignment) expect(numbered[alignment.user - 1]?.role).toBe("user");
      }),
    );
  });
});
