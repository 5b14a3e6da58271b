import type { Part } from "../../values/entry.ts";
import { urlOf } from "../openai/parts.ts";

/** What a user said, as a message's content: a text where it is nothing else. */
export function userContent(content: readonly Part[]): string {
  const said = content.filter((part) => part.type !== "text" || part.text !== "");
  const [only = { type: "text", text: "(empty message)" } as const, ...more] = said;
  if (only.type === "text" && more.length === 0) return JSON.stringify(only.text);
  return `[${said.map(userPart).join(",")}]`;
}

function userPart(part: Part): string {
  switch (part.type) {
    case "text":
      return `{"type":"text","text":${JSON.stringify(part.text)}}`;
    case "image":
      return `{"type":"image_url","image_url":{"url":${urlOf(part.source)}}}`;
    case "document": {
      if (part.source.type === "url") {
        return `{"type":"text","text":${JSON.stringify(`[document at ${part.source.url}]`)}}`;
      }
      const name = JSON.stringify(part.name ?? "document.pdf");
      return `{"type":"file","file":{"filename":${name},"file_data":${urlOf(part.source)}}}`;
    }
  }
}

/** What a tool said, as text: a tool's message takes nothing else. */
export function outputText(content: readonly Part[], failed: boolean): string {
  const texts = content.map((part) =>
    part.type === "text" ? part.text : `[${part.type} left out: this API takes text only as a tool's result]`,
  );
  return [...(failed ? ["Error:"] : []), ...texts].join("\n") || "(no output)";
}
