import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readImage, readPdf } from "../../../src/surfaces/chat-completions/attachment.ts";
import { failureOf } from "../../../src/values/errors.ts";

const MB = 1024 * 1024;

const PNG = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const BEGINNINGS: [string, Buffer][] = [
  ["image/png", PNG],
  ["image/jpeg", Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ["image/gif", Buffer.from("GIF87a")],
  ["image/gif", Buffer.from("GIF89a")],
  ["image/webp", Buffer.from("RIFF\x10\0\0\0WEBPVP8 ", "latin1")],
];

const dataUrl = (media: string, bytes: Buffer | string) =>
  `data:${media};base64,${typeof bytes === "string" ? bytes : bytes.toString("base64")}`;

function problem(read: () => unknown) {
  try {
    read();
  } catch (thrown) {
    return failureOf(thrown);
  }
  return expect.fail("it was taken");
}

describe("an image", () => {
  it.each(BEGINNINGS)("of type %s is taken by how it begins, as no other type", (media, bytes) => {
    expect(readImage(dataUrl(media, bytes), "p").blob).toMatchObject({ media, base64: bytes.toString("base64") });
    for (const [other] of BEGINNINGS.filter(([one]) => one !== media)) {
      expect(problem(() => readImage(dataUrl(other, bytes), "p"))).toMatchObject({
        reason: "bad_request",
        path: "p",
        message: `p: the data: URL says ${other}, and its content is something else`,
      });
    }
  });

  it("is a JPEG by its other name, too", () => {
    const bytes = Buffer.from([0xff, 0xd8, 0xff]);
    expect(readImage(dataUrl("image/jpg", bytes), "p").blob?.media).toBe("image/jpeg");
  });

  it("keeps the client's text and is named by the hash of its bytes, whatever their number", () => {
    for (const more of [0, 1, 2, 3]) {
      const bytes = Buffer.concat([PNG, randomBytes(more)]);
      const hash = createHash("sha256").update(bytes).digest("hex");
      const { source, blob } = readImage(dataUrl("image/png", bytes), "p");
      expect(source).toEqual({ type: "blob", hash, media: "image/png" });
      expect(blob).toEqual({ hash, media: "image/png", base64: bytes.toString("base64") });
    }
  });

  it.each([
    ["white space", "iVBORw0KGgo=\n"],
    ["white space within", "iVBO Rw0KGgo="],
    ["no padding", "iVBORw0KGgo"],
    ["too much padding", "iVBORw0KGgo====="],
    ["padding within", "iVBORw0KGgo=iVBO"],
    ["bits behind its end", "iVBORw0KGgp="],
    ["the URL alphabet", "iVBORw0KGgo-"],
    ["the URL alphabet's other letter", "iVBORw0KGgo_"],
    ["letters that are none", "iVBORw0KGgoü"],
    ["half a byte", "iVBORw0KGgoAA==="],
  ])("in base64 with %s is refused: it could not be told from another one", (_, base64) => {
    expect(problem(() => readImage(dataUrl("image/png", base64), "p")).message).toContain("valid base64");
  });

  it("of 14 MB takes little more of the heap than its text has", () => {
    const url = dataUrl("image/png", Buffer.concat([PNG, Buffer.alloc(10.5 * MB, 7)]));
    expect(url.length).toBeGreaterThan(14 * MB);
    const before = process.memoryUsage().heapUsed;
    const { blob } = readImage(url, "p");
    const taken = process.memoryUsage().heapUsed - before;
    expect(blob?.base64.length).toBeGreaterThan(14 * MB);
    expect(taken).toBeLessThan(20 * MB);
  });
});

describe("a PDF", () => {
  it("may have something before its first line, as readers allow", () => {
    const pdf = (before: number) => dataUrl("application/pdf", Buffer.from(`${" ".repeat(before)}%PDF-1.7`));
    expect(readPdf(pdf(0), "p").source).toMatchObject({ media: "application/pdf" });
    expect(readPdf(pdf(1_000), "p").source).toMatchObject({ media: "application/pdf" });
    expect(problem(() => readPdf(pdf(1_100), "p"))).toMatchObject({ reason: "bad_request", path: "p" });
  });
});
