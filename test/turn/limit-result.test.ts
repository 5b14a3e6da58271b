import fc from "fast-check";
import { expect, test } from "vitest";
import { limitResult } from "../../src/turn/limit-result.ts";
import { RESULT_BYTES } from "../../src/turn/limits.ts";
import { toolOutput } from "../../src/turn/tool-output.ts";

const text = (text: string) => ({ type: "text", text }) as const;
const bytes = (parts: ReturnType<typeof limitResult>) =>
  parts.reduce((sum, part) => sum + (part.type === "text" ? Buffer.byteLength(part.text) : 0), 0);

test("what fits stays as it is, and lone surrogates become what UTF-8 can carry", () => {
  expect(limitResult([text("as it is"), text("a\ud83db")])).toEqual([text("as it is"), text("a\ufffdb")]);
});

test("the limit holds over all parts, and the cut says how much is gone", () => {
  const parts = limitResult([text("a".repeat(RESULT_BYTES - 10)), text("b".repeat(1000)), text("c")]);
  expect(parts).toHaveLength(2);
  expect(parts[1]).toEqual(text(`bbbbb\n[… 990 bytes cut here: a result may hold ${RESULT_BYTES} …]\nbbbbb`));
});

test("a cut never splits a character", () => {
  fc.assert(
    fc.property(fc.nat(7), (shift) => {
      const long = "x".repeat(shift) + "😀".repeat(RESULT_BYTES / 4 + 100);
      const [part] = limitResult([text(long)]);
      return part?.type === "text" && !part.text.includes("\ufffd");
    }),
  );
  expect(bytes(limitResult([text("😀".repeat(RESULT_BYTES))]))).toBeLessThan(RESULT_BYTES + 200);
});

test.each([
  [{ type: "image", mediaType: "image/tiff", data: "AAAA" }, "models take no image of the media type image/tiff"],
  [{ type: "image", mediaType: "image/png", data: "" }, "needs a `url`"],
  [{ type: "image", mediaType: "image/png", data: "no base64!" }, "is no base64"],
  [{ type: "image", url: "http://example.com/a.png" }, "is no https URL"],
  [{ type: "document", mediaType: "image/png", data: "AAAA" }, "models take no document"],
])("an image or document that no model takes is a failed call: %j", (part, why) => {
  expect(() => toolOutput({ content: [part] })).toThrow(why);
});
