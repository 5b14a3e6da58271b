import { describe, expect, it, vi } from "vitest";
import { door } from "../../http/stand-ins.ts";

const TITLE = `### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Chat History:
<chat_history>
USER: Hi
ASSISTANT: Hello.
</chat_history>`;

const user = (content: string) => ({ role: "user", content });
const assistant = { role: "assistant", content: "Hello." };
const chatId = { "x-openwebui-chat-id": "chat-1" };

describe("what Open WebUI asks about a chat", () => {
  it.each([true, false])(
    "is answered under an id of its own and leaves the chat alone (stream: %s)",
    async (stream) => {
      const { chat, saved, settled, turns } = door();
      await chat({ messages: [user("Hi")] }, chatId);
      await settled();
      const before = new Map(saved);
      for (const named of [{}, { "x-conversation-id": "chat-1" }]) {
        const response = await chat({ messages: [user(TITLE)], stream }, { ...chatId, ...named });
        expect(response.headers.get("x-conversation-id")).toMatch(/^[0-9a-f]{32}$/);
        expect(await response.text()).toContain("Hello.");
      }
      await chat({ messages: [{ role: "system", content: "Be brief." }, user(`\n${TITLE}`)], stream }, chatId);
      await settled();
      expect(turns.map(({ conversation }) => conversation.minted)).toEqual([false, true, true, true]);
      expect(saved).toEqual(before);
    },
  );

  it("is told from a chat that goes on after such a message", async () => {
    const { chat, turns } = door();
    await chat({ messages: [user(TITLE), assistant, user("And?")] }, chatId);
    await chat({ messages: [user(`What does "### Task:" mean?`)] }, chatId);
    expect(turns.map(({ conversation }) => conversation)).toEqual(Array(2).fill({ id: "chat-1", minted: false }));
  });

  it("costs no look at D1", async () => {
    const transcripts = {
      transcriptHash: vi.fn(() => ""),
      findTranscript: vi.fn(async () => null),
      saveTranscript: vi.fn(async () => {}),
    };
    const { chat, settled } = door({ deps: { transcripts } });
    expect((await chat({ messages: [user(TITLE)] })).status).toBe(200);
    await settled();
    for (const asked of Object.values(transcripts)) expect(asked).not.toHaveBeenCalled();
  });
});
