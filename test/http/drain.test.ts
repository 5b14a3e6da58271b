import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { door } from "./stand-ins.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const MB = 1024 * 1024;

/** Posts a body that is refused by its first piece, and says what became of the rest. */
function refused(pieces: (n: number) => Uint8Array | "end" | "nothing") {
  const read = { bytes: 0, pieces: 0 };
  const { promise: silent, resolve: fallSilent } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces(read.pieces++);
        if (piece === "end") return controller.close();
        if (piece === "nothing") {
          fallSilent();
          return new Promise<void>(() => {});
        }
        read.bytes += piece.byteLength;
        controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "application/json", "x-conversation-id": "mine" };
  const response = door().fetch("/v1/chat/completions", {
    method: "POST",
    headers,
    body,
    duplex: "half",
  } as RequestInit);
  return { response, read, silent, body };
}

const NO_UTF8 = new Uint8Array([0x22, 0xff]);
const DEEP = new TextEncoder().encode("[".repeat(100));

describe("what a refused request still sends is dropped", () => {
  it.each([
    ["is not UTF-8", NO_UTF8],
    ["is nested too deep", DEEP],
    ["is too large", new Uint8Array(5 * MB).fill(0x20)],
  ])("to its end, where the body %s", async (_, first) => {
    const { response, read } = refused((n) => (n === 0 ? first : n < 9 ? new Uint8Array(MB) : "end"));
    expect((await response).status).toBeGreaterThanOrEqual(400);
    expect(read.pieces).toBe(10);
  });

  it("up to 64 MB", async () => {
    const { response, read } = refused((n) => (n === 0 ? NO_UTF8 : new Uint8Array(MB)));
    expect((await response).status).toBe(400);
    expect(read.bytes).toBe(NO_UTF8.byteLength + 64 * MB);
  });

  it("for 2 s at most, and its body is let go", async () => {
    const { response, silent, body } = refused((n) => (n === 0 ? NO_UTF8 : "nothing"));
    let answered = false;
    void response.then(() => {
      answered = true;
    });
    await silent;
    await vi.advanceTimersByTimeAsync(1_999);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await response).status).toBe(400);
    expect(body.locked).toBe(false);
  });
});
