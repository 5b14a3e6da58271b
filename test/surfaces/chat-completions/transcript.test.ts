import { afterEach, describe, expect, it, vi } from "vitest";
import type { AppDeps } from "../../../src/http/deps.ts";
import { ALICE, BOB, door, says } from "../../http/stand-ins.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

afterEach(() => {
  vi.useRealTimers();
});

describe("a client that sends no id", () => {
  it("goes on in the conversation whose transcript it resends, however its page dressed it up", async () => {
    const { chat, turns } = door({ play: says("Hello\n there.") });
    const first = await chat({ messages: [user("Hi")] });
    const id = first.headers.get("x-conversation-id");
    const dressed = assistant("<think>Hm.</think>Hello there. ");
    const second = await chat({ messages: [{ role: "system", content: "x" }, user("Hi"), dressed, user("And?")] });
    expect(second.headers.get("x-conversation-id")).toBe(id);
    const third = await chat({
      messages: [user("Hi"), dressed, user("And?"), assistant("Hello there."), user("More")],
      stream: true,
    });
    expect(third.headers.get("x-conversation-id")).toBe(id);
    await third.text();
    expect(turns.map(({ conversation }) => conversation.minted)).toEqual([true, false, false]);
  });

  it("starts anew where it edited the history, with its messages as seed", async () => {
    const { chat, turns } = door();
    const first = await chat({ messages: [user("Hi")] });
    const second = await chat({ messages: [user("Ho"), assistant("Hello."), user("And?")] });
    expect(second.headers.get("x-conversation-id")).not.toBe(first.headers.get("x-conversation-id"));
    expect(turns[1]).toMatchObject({ conversation: { minted: true }, seed: [{ role: "user" }, { role: "assistant" }] });
  });

  it("starts anew where another owner or agent had the same conversation", async () => {
    const { chat } = door();
    const messages = [user("Hi"), assistant("Hello."), user("And?")];
    const first = await chat({ messages: [user("Hi")] }, { authorization: `Bearer ${BOB}` });
    const id = first.headers.get("x-conversation-id");
    expect((await chat({ messages })).headers.get("x-conversation-id")).not.toBe(id);
    const other = await chat({ model: "other", messages }, { authorization: `Bearer ${BOB}` });
    expect(other.headers.get("x-conversation-id")).not.toBe(id);
  });

  it("starts anew when it brings no answer, which costs no look at D1", async () => {
    const findTranscript = vi.fn(async () => "never");
    const { chat } = door({ deps: { transcripts: { ...keeping(), findTranscript } } });
    await chat({ messages: [user("Hi"), user("Hi")] });
    expect(findTranscript).not.toHaveBeenCalled();
  });

  it("can go on in a conversation that began with an id", async () => {
    const { chat } = door();
    await chat({ messages: [user("Hi")] }, { "x-conversation-id": "mine" });
    const second = await chat({ messages: [user("Hi"), assistant("Hello."), user("And?")] });
    expect(second.headers.get("x-conversation-id")).toBe("mine");
  });
});

describe("while D1 is down", () => {
  const messages = [user("Hi"), assistant("Hello."), user("And?")];

  it("a conversation starts from the client's messages, and the log says why", async () => {
    const fails = async () => {
      throw new Error("D1 is down");
    };
    const { chat, logged, turns } = door({
      deps: { transcripts: { ...keeping(), findTranscript: fails, saveTranscript: fails } },
    });
    expect((await chat({ messages })).status).toBe(200);
    expect(turns[0]).toMatchObject({ conversation: { minted: true }, seed: [{ role: "user" }, { role: "assistant" }] });
    expect(logged.slice(0, 2)).toMatchObject([
      { event: "transcript not read", fields: { level: "warn", why: "D1 is down" } },
      { event: "transcript not saved", fields: { level: "warn", why: "D1 is down" } },
    ]);
  });

  it("an answer waits for it 1 s at most", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const hangs = () => {
      ask();
      return new Promise<never>(() => {});
    };
    const { chat, logged } = door({ deps: { transcripts: { ...keeping(), saveTranscript: hangs } } });
    const response = await chat({ messages: [user("Hi")], stream: true }, { authorization: `Bearer ${ALICE}` });
    const text = response.text();
    await asked;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await text).toContain("[DONE]");
    expect(logged).toContainEqual({
      event: "transcript not saved",
      fields: expect.objectContaining({ level: "warn" }),
    });
  });
});

function keeping(): AppDeps["transcripts"] {
  return {
    transcriptHash: async (messages) => JSON.stringify(messages),
    findTranscript: async () => null,
    saveTranscript: async () => {},
  };
}
