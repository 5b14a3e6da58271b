import { describe, expect, it } from "vitest";
import { readJson } from "../../src/http/body.ts";
import { type Failure, failureOf } from "../../src/values/errors.ts";

const MB = 1024 * 1024;

/** A body that comes in pieces and without a length, and how many of its bytes were asked for. */
function streamed(text: string, piece = 256 * 1024, headers: Record<string, string> = {}) {
  const bytes = new TextEncoder().encode(text);
  const read = { bytes: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = bytes.slice(read.bytes, read.bytes + piece);
        read.bytes += chunk.byteLength;
        if (chunk.byteLength === 0) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  const init = { method: "POST", headers, body, duplex: "half" };
  return { request: new Request("http://localhost/", init), read };
}

async function failing(request: Request): Promise<Failure> {
  return readJson(request).then(
    () => expect.fail("it was read"),
    (thrown: unknown) => failureOf(thrown),
  );
}

const post = (body: BodyInit) => new Request("http://localhost/", { method: "POST", body });
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("readJson", () => {
  it("reads JSON whatever the pieces, also where one ends within a character", async () => {
    const value = { text: "grüße 你好 🐚" };
    expect(await readJson(streamed(JSON.stringify(value), 1).request)).toEqual(value);
  });

  it.each([
    ["nothing", "", "The body is not JSON"],
    ["something else", "hello", "The body is not JSON"],
    ["half of it", '{"a":', "The body is not JSON"],
  ])("says that %s is no JSON", async (_, text, message) => {
    expect(await failing(post(text))).toMatchObject({
      reason: "bad_request",
      message: expect.stringContaining(message),
    });
  });

  it("says that bytes are no UTF-8", async () => {
    expect(await failing(post(new Uint8Array([0x22, 0xff, 0x22])))).toMatchObject({
      message: "The body is not UTF-8.",
    });
  });

  it("takes 64 levels and no more, however deep it is", async () => {
    expect(await readJson(post(nested(64)))).toBeInstanceOf(Array);
    for (const depth of [65, 200_000]) {
      expect(await failing(post(nested(depth)))).toMatchObject({
        reason: "bad_request",
        message: "The body is nested deeper than 64 levels.",
      });
    }
  });

  it("stops reading text at 4 MB", async () => {
    const { request, read } = streamed(JSON.stringify("x".repeat(10 * MB)));
    expect(await failing(request)).toMatchObject({ reason: "too_large", message: expect.stringContaining("4 MB") });
    expect(read.bytes).toBeLessThan(5 * MB);
  });

  it.each(["data:image/png;base64,", "data:application/pdf;base64,"])("reads up to 20 MB with %s", async (head) => {
    const body = JSON.stringify({ url: head + "A".repeat(10 * MB) });
    expect(await readJson(streamed(body).request)).toHaveProperty("url");
  });

  it("stops reading at 20 MB", async () => {
    const { request, read } = streamed(JSON.stringify({ url: `data:image/png;base64,${"A".repeat(25 * MB)}` }));
    expect(await failing(request)).toMatchObject({ reason: "too_large", message: expect.stringContaining("20 MB") });
    expect(read.bytes).toBeLessThan(21 * MB);
  });

  it("does not take more than 4 MB of text because an image stands beside it", async () => {
    const body = JSON.stringify(["data:image/png;base64,AAAA", "x".repeat(5 * MB)]);
    expect(await failing(streamed(body).request)).toMatchObject({ reason: "too_large" });
  });

  it("refuses by its length alone what says that it is too large", async () => {
    const { request, read } = streamed("1", 1, { "content-length": String(21 * MB) });
    expect(await failing(request)).toMatchObject({ reason: "too_large" });
    expect(read.bytes).toBe(0);
  });
});
