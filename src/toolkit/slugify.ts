import * as z from "zod";
import { defineTool } from "../define/tool.ts";

const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["ł", "l"],
  ["đ", "d"],
  ["þ", "th"],
]);

/** A title as it can stand in an address. */
export const slugify = defineTool({
  name: "slugify",
  description:
    "Turns a title into a slug for an URL or a file name: lower case, without accents, words joined by hyphens.",
  risk: "read",
  idempotent: true,
  input: z.object({
    text: z.string().max(1_000).describe("The title."),
    maxLength: z.int().min(1).max(200).default(80).describe("Longest slug; cut between words where that is possible."),
  }),
  execute({ text, maxLength }) {
    const plain = text.toLowerCase().replaceAll(/[ßæœøłđþ]/g, (letter) => LETTERS.get(letter) ?? "");
    const slug = plain
      .normalize("NFKD")
      .toLowerCase()
      .replaceAll(/\p{M}+/gu, "")
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-");
    const cut = shorten(slug.replaceAll(/^-+|-+$/g, "").normalize("NFC"), maxLength);
    if (cut === "") throw new Error("The text has no letters or digits.");
    return cut;
  },
});

function shorten(slug: string, most: number): string {
  if (slug.length <= most) return slug;
  const end = slug.lastIndexOf("-", most);
  // A letter of two code units is not cut in half.
  return slug.slice(0, end > 0 ? end : most).replace(/[\uD800-\uDBFF]$/, "");
}
