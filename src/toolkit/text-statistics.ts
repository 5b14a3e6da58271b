import * as z from "zod";
import { defineTool } from "../define/tool.ts";

const WORDS_A_MINUTE = 230;

/** Lengths of a text. */
export const textStatistics = defineTool({
  name: "text_statistics",
  description:
    "Counts the characters, words, sentences, lines and paragraphs of a text and estimates its reading time.",
  risk: "read",
  idempotent: true,
  input: z.object({ text: z.string().max(200_000).describe("The text to count.") }),
  execute({ text }) {
    const words = count(text, "word", (piece) => piece.isWordLike === true);
    return {
      characters: count(text, "grapheme", () => true),
      words,
      sentences: count(text, "sentence", (piece) => piece.segment.trim() !== ""),
      lines: text === "" ? 0 : text.replace(/\r?\n$/, "").split(/\r?\n/).length,
      paragraphs: text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== "").length,
      readingSeconds: Math.ceil((words * 60) / WORDS_A_MINUTE),
    };
  },
});

function count(
  text: string,
  granularity: "grapheme" | "word" | "sentence",
  counts: (piece: Intl.SegmentData) => boolean,
): number {
  let found = 0;
  for (const piece of new Intl.Segmenter("en", { granularity }).segment(text)) if (counts(piece)) found += 1;
  return found;
}
