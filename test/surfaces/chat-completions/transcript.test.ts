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
    const system = { role: "system", content: "Be brief." };
    const first = await chat({ messages: [system, user("Hi")] });
    const id = first.headers.get("x-conversation-id");
    const dressed = assistant("<think>Hm.</think>Hello there. ");
    const second = await chat({ messages: [system, user("Hi"), dressed, user("And?")] });
    expect(second.headers.get("x-conversation-id")).toBe(id);
    const third = await chat({
      messages: [system, user("Hi"), dressed, user("And?"), assistant("Hello there."), user("More")],
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

  /** Both openings are the same text, and so are the answers: each goes on in its own conversation. */
  async function twoChats(one: readonly object[], two: readonly object[]) {
    const { chat } = door();
    const idOf = async (messages: readonly object[]) => (await chat({ messages })).headers.get("x-conversation-id");
    const begun = [await idOf(one), await idOf(two)];
    const answer = [assistant("Hello."), user("And?")];
    const resumed = [await idOf([...one, ...answer]), await idOf([...two, ...answer])];
    expect(resumed).toEqual(begun);
    expect(new Set(begun).size).toBe(2);
  }

  const asks = (part?: object) => [
    { role: "user", content: [{ type: "text", text: "What is this?" }, ...(part ? [part] : [])] },
  ];
  const image = (url: string) => ({ type: "image_url", image_url: { url } });
  const png = (bytes: string) =>
    `data:image/png;base64,${Buffer.from(`\x89PNG\r\n\x1a\n${bytes}`, "latin1").toString("base64")}`;
  const pdf = (bytes: string, filename?: string) => ({
    type: "file",
    file: { file_data: `data:application/pdf;base64,${Buffer.from(`%PDF-${bytes}`).toString("base64")}`, filename },
  });

  it.each([
    ["the image", asks(image(png("1"))), asks(image(png("2")))],
    ["the image's address", asks(image("https://a.example/1.png")), asks(image("https://a.example/2.png"))],
    ["whether there is an image", asks(image(png("1"))), asks()],
    ["the file", asks(pdf("1", "a.pdf")), asks(pdf("2", "a.pdf"))],
    ["the file's name", asks(pdf("1", "a.pdf")), asks(pdf("1", "b.pdf"))],
    [
      "the system text",
      [{ role: "system", content: "Be brief." }, ...asks()],
      [{ role: "system", content: "Be verbose." }, ...asks()],
    ],
    ["whether there is a system text", [{ role: "developer", content: "Be brief." }, ...asks()], asks()],
  ])("shares no conversation with one that differs in %s only", async (_, one, two) => {
    await twoChats(one, two);
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
    transcriptHash: (transcript) => JSON.stringify(transcript),
    findTranscript: async () => null,
    saveTranscript: async () => {},
  };
}
