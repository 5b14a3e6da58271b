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
    const words = pieces(text, "word").filter((piece) => piece.isWordLike).length;
    return {
      characters: pieces(text, "grapheme").length,
      words,
      sentences: pieces(text, "sentence").filter((piece) => piece.segment.trim() !== "").length,
      lines: text === "" ? 0 : text.split(/\r?\n/).length,
      paragraphs: text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== "").length,
      readingSeconds: Math.ceil((words * 60) / WORDS_A_MINUTE),
    };
  },
});

function pieces(text: string, granularity: "grapheme" | "word" | "sentence"): Intl.SegmentData[] {
  return [...new Intl.Segmenter("en", { granularity }).segment(text)];
}
