import { z } from "zod";

const text = z.strictObject({ type: z.literal("text"), text: z.string() });
const texts = z.union([z.string(), z.array(text).min(1)]);
const name = z.string().optional();

const userPart = z.discriminatedUnion("type", [
  text,
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.strictObject({ url: z.string(), detail: z.enum(["auto", "low", "high"]).optional() }),
  }),
  z.strictObject({
    type: z.literal("input_audio"),
    input_audio: z.strictObject({ data: z.string(), format: z.enum(["wav", "mp3"]) }),
  }),
  z.strictObject({
    type: z.literal("file"),
    file: z.strictObject({
      file_data: z.string().optional(),
      file_id: z.string().optional(),
      filename: z.string().optional(),
    }),
  }),
]);

const toolCall = z.strictObject({
  id: z.string().max(40),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

const assistantPart = z.discriminatedUnion("type", [
  text,
  z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
]);

/** One message of a Chat Completions request. Unknown fields are errors. */
export const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: texts, name }),
  z.strictObject({ role: z.literal("developer"), content: texts, name }),
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(userPart).min(1)]), name }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([z.string(), z.array(assistantPart).min(1)]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    name,
  }),
  z.strictObject({ role: z.literal("tool"), content: texts, tool_call_id: z.string() }),
]);

export type Message = z.infer<typeof message>;

/** The text of a message's content. */
export function textOf(content: Message["content"]): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
