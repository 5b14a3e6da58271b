import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entomb } from "../../src/session/record.ts";
import {
  findTranscript,
  saveTranscript,
  type TranscriptMessage,
  transcriptHash,
} from "../../src/session/transcripts.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";

const message = (role: "user" | "assistant", text: string, ...attachments: string[]): TranscriptMessage => ({
  role,
  text,
  attachments,
});
const hash = (system: string | null, ...messages: TranscriptMessage[]) => transcriptHash({ system, messages });

describe("the hash of a transcript", () => {
  test("tells who spoke, where a message ends, what was attached to which, and the system's words", () => {
    const hashes = [
      hash(null, message("user", "ab")),
      hash(null, message("user", "a"), message("user", "b")),
      hash(null, message("assistant", "ab")),
      hash(null, message("user", "ab", "one")),
      hash(null, message("user", "ab", "two")),
      hash(null, message("user", "ab", "one", "two")),
      hash(null, message("user", "ab", "two", "one")),
      hash(null, message("user", "a", "one"), message("user", "b")),
      hash(null, message("user", "a"), message("user", "b", "one")),
      hash("", message("user", "ab")),
      hash("Be brief.", message("user", "ab")),
      hash("Be verbose.", message("user", "ab")),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const one of hashes) expect(one).toMatch(/^[0-9a-f]{64}$/);
  });

  test("does not change by an assistant message without text", () => {
    expect(hash(null, message("user", "ab"), message("assistant", ""))).toBe(hash(null, message("user", "ab")));
  });
});

describe("transcripts in D1", () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startWorkerd({ entry: "test/session/worker.ts" });
  });
  afterAll(() => workerd?.dispose());

  const id = (conversation: string) => ({ owner: "x", agent: "a", conversation });

  test("find the conversation whose newest transcript is this one, of this owner and agent", async () => {
    const db = await workerd.d1();
    await saveTranscript(db, id("c1"), "one");
    expect(await findTranscript(db, "x", "a", "one")).toBe("c1");
    expect(await findTranscript(db, "y", "a", "one")).toBeNull();
    expect(await findTranscript(db, "x", "b", "one")).toBeNull();
    await saveTranscript(db, id("c1"), "another");
    expect(await findTranscript(db, "x", "a", "one")).toBeNull();
    expect(await findTranscript(db, "x", "a", "another")).toBe("c1");
  });

  test("of a deleted conversation go with it, and do not come back with an answer that was on its way", async () => {
    const db = await workerd.d1();
    await saveTranscript(db, id("gone"), "before");
    await entomb(db, id("gone"), 1);
    expect(await findTranscript(db, "x", "a", "before")).toBeNull();
    await saveTranscript(db, id("gone"), "after");
    expect(await findTranscript(db, "x", "a", "after")).toBeNull();
    // Another owner's conversation of that name is another one.
    await saveTranscript(db, { ...id("gone"), owner: "y" }, "after");
    expect(await findTranscript(db, "y", "a", "after")).toBe("gone");
  });
});
