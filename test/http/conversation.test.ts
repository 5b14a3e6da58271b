import { describe, expect, it } from "vitest";
import { givenConversation, type NamingBody, resolveConversation } from "../../src/http/conversation.ts";
import { failureOf } from "../../src/values/errors.ts";

const given = (headers: Record<string, string>, body: NamingBody = {}) => givenConversation(new Headers(headers), body);

describe("givenConversation", () => {
  it("takes the first of the headers, then the body's fields", () => {
    const all = { "x-chat-id": "d", "x-session-id": "c", "x-openwebui-chat-id": "b", "x-conversation-id": "a" };
    const body = { metadata: { conversation_id: "e" }, conversation: { id: "f" } };
    expect(given(all, body)).toBe("a");
    expect(given({ "x-chat-id": "d", "x-session-id": "c", "x-openwebui-chat-id": "b" }, body)).toBe("b");
    expect(given({ "x-chat-id": "d", "x-session-id": "c" }, body)).toBe("c");
    expect(given({ "x-chat-id": "d" }, body)).toBe("d");
    expect(given({}, body)).toBe("e");
    expect(given({}, { conversation: { id: "f" } })).toBe("f");
    expect(given({})).toBeNull();
  });

  it("takes an empty value for none", () => {
    expect(given({ "x-conversation-id": " ", "x-chat-id": "d" })).toBe("d");
    expect(given({}, { metadata: { conversation_id: "" }, conversation: null })).toBeNull();
  });

  it.each(["a b", "a/b", "ü", "x".repeat(129), "{{CHAT}}"])("refuses %j and says where it stood", (id) => {
    const thrown = (() => {
      try {
        return given({}, { conversation: { id } });
      } catch (error) {
        return failureOf(error);
      }
    })();
    expect(thrown).toMatchObject({ reason: "bad_request", path: "conversation" });
  });

  it("takes 128 characters of the alphabet", () => {
    const id = `${"A.z_0:9-".repeat(16)}`;
    expect(given({ "x-conversation-id": id })).toBe(id);
  });
});

describe("resolveConversation", () => {
  const plain = { key: null, body: "b", repeated: false };

  it("takes a repeat of a keyed request to the same conversation, and another key to another", async () => {
    const at = (key: string) => resolveConversation(null, { ...plain, key }, async () => null);
    const one = await at("1".repeat(64));
    expect(one).toEqual({ id: `key-${"1".repeat(32)}`, minted: false });
    expect(await at("1".repeat(64))).toEqual(one);
    expect((await at("2".repeat(64))).id).not.toBe(one.id);
  });

  it("derives only where nothing was given, and mints where nothing is derived", async () => {
    const never = () => expect.fail("it was asked");
    expect(await resolveConversation("mine", plain, never)).toEqual({ id: "mine", minted: false });
    expect(await resolveConversation(null, plain, async () => "found")).toEqual({ id: "found", minted: false });
    const first = await resolveConversation(null, plain, async () => null);
    const second = await resolveConversation(null, plain, async () => null);
    expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), minted: true });
    expect(second.id).not.toBe(first.id);
  });
});
