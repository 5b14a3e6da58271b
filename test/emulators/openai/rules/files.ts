import { invalid } from "../failure.ts";
import type { Item } from "../schema/items.ts";
import type { Rule } from "./rule.ts";

const MEDIA = /^data:(audio|video|image)\//;
const EXTENSION = /\.(mp3|wav|ogg|flac|m4a|aac|mp4|mov|webm|avi|mkv)(\?.*)?$/i;

/** A file is a document: sound and film are refused. */
export const filesAreDocuments: Rule = ({ items }) => {
  const bad = items.flatMap(partsOf).some((part) => {
    if (part.type !== "input_file") return false;
    return MEDIA.test(part.file_data ?? "") || EXTENSION.test(part.file_url ?? "");
  });
  if (!bad) return null;
  const message = "The file type you uploaded is not supported. Please try again with a pdf";
  return invalid("E-O02", message, "input", "unsupported_file");
};

function partsOf(item: Item) {
  if (item.type === "message" && item.role !== "assistant" && Array.isArray(item.content)) return item.content;
  if (item.type === "function_call_output" && Array.isArray(item.output)) return item.output;
  return [];
}
