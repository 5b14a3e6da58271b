import { describe, expect, it } from "vitest";
import { readJson as read } from "../../src/http/body.ts";
import { type Failure, failureOf } from "../../src/values/errors.ts";

const MB = 1024 * 1024;
const PATHS = ["parts[].image.url", "parts[].file"];
const readJson = (request: Request) => read(request, PATHS);
/** A body with one attachment at one of those paths. */
const picture = (url: string) => JSON.stringify({ parts: [{ image: { detail: "low", url } }] });

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
    for (const piece of [1_000_003, 64]) {
      const url = head + "A".repeat(piece === 64 ? 5 * MB : 15 * MB);
      expect(await readJson(streamed(picture(url), piece).request)).toHaveProperty("parts[0].image.url", url);
    }
    const escaped = picture(`${head}${"A/".repeat(3 * MB)}`).replaceAll("/", "\\/");
    expect(await readJson(streamed(escaped).request)).toHaveProperty("parts[0].image.url");
    expect(
      await readJson(streamed(JSON.stringify({ parts: [1, { file: head + "A".repeat(5 * MB) }] })).request),
    ).toBeTruthy();
  });

  it("stops reading at 20 MB", async () => {
    const { request, read } = streamed(picture(`data:image/png;base64,${"A".repeat(25 * MB)}`));
    expect(await failing(request)).toMatchObject({ reason: "too_large", message: expect.stringContaining("20 MB") });
    expect(read.bytes).toBeLessThan(21 * MB);
  });

  it("does not take more than 4 MB of text because an image stands beside it", async () => {
    const attached = picture(`data:image/png;base64,${"A".repeat(MB)}`);
    const { request, read } = streamed(`[${attached},${JSON.stringify("x".repeat(9 * MB))}]`);
    expect(await failing(request)).toMatchObject({ reason: "too_large" });
    expect(read.bytes).toBeLessThan(6 * MB);
  });

  const A = "A".repeat(8 * MB);
  const DATA = `data:image/png;base64,${A}`;
  it.each<[string, string]>([
    ["stands where no attachment does", JSON.stringify({ metadata: { url: DATA } })],
    ["stands deeper than an attachment does", JSON.stringify({ parts: [{ image: { url: [DATA] } }] })],
    ["is a key", JSON.stringify({ parts: [{ image: { [DATA]: 1 } }] })],
    ["is quoted in a text", JSON.stringify({ parts: [{ image: { text: `"url":"${DATA}` } }] })],
    ["only begins as one", picture(`${DATA.slice(0, 5 * MB)} ${A}`)],
    ["has a quote in it", picture(`data:image/png;base64,"${A}`)],
    ["is no image", picture(`data:text/plain;base64,${A}`)],
    ["is not in base64", picture(`data:image/png,${A}`)],
    ["has a long head", picture(`data:image/png;${"a=b;".repeat(50)}base64,${A}`)],
    ["is no data URL", picture(`https://a.example/${A}`)],
  ])("takes no more than 4 MB of what looks like an image and %s", async (_, body) => {
    const { request, read } = streamed(body);
    expect(await failing(request)).toMatchObject({ reason: "too_large", message: expect.stringContaining("4 MB") });
    expect(read.bytes).toBeLessThan(6 * MB);
  });

  it("takes no attachment where none is expected", async () => {
    expect(await read(post(picture(DATA.slice(0, 1_000))))).toHaveProperty("parts");
    const { request } = streamed(picture(DATA));
    await expect(read(request)).rejects.toThrow("larger than 4 MB");
  });

  it("lets go of the body whatever becomes of it, so that the rest can be read", async () => {
    const bodies = ["1", "x", nested(70), JSON.stringify("x".repeat(5 * MB))].map((text) => streamed(text).request);
    const broken = post(new Uint8Array([0x22, 0xff, 0x22]));
    for (const request of [...bodies, broken]) {
      await readJson(request).catch(() => undefined);
      expect(request.body?.locked).toBe(false);
    }
  });

  it("refuses by its length alone what says that it is too large", async () => {
    const { request, read } = streamed("1", 1, { "content-length": String(21 * MB) });
    expect(await failing(request)).toMatchObject({ reason: "too_large" });
    expect(read.bytes).toBe(0);
  });
});

describe("base64 alone, at the paths that are given for it,", () => {
  const bytes = (raw: string, member = "raw") => JSON.stringify({ parts: [{ text: "see", [member]: raw }] });
  const outcome = (request: Request) =>
    read(request, [], ["parts[].raw"]).then(
      () => "read",
      (thrown: unknown) => failureOf(thrown).reason,
    );

  it("may take a body above the limit of text, and nothing else may", async () => {
    expect(await outcome(streamed(bytes("A".repeat(6 * MB))).request)).toBe("read");
    expect(await outcome(streamed(bytes("A".repeat(6 * MB), "text")).request)).toBe("too_large");
    expect(await outcome(streamed(bytes(`${"A".repeat(6 * MB)} `)).request)).toBe("too_large");
    expect(await outcome(streamed(bytes("A".repeat(21 * MB))).request)).toBe("too_large");
  });
});
