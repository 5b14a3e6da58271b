import { z } from "zod";
import { cached, citationsConfig } from "./parts.ts";

const url = z.strictObject({ type: z.literal("url"), url: z.string() });
const file = z.strictObject({ type: z.literal("file"), file_id: z.string() });
const base64 = z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() });
const plain = z.strictObject({ type: z.literal("text"), media_type: z.literal("text/plain"), data: z.string() });

export const text = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  citations: z.array(z.looseObject({ type: z.string() })).nullish(),
  ...cached,
});

export const image = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [base64, url, file]),
  transformations: z.strictObject({ oversized_image: z.enum(["downsize", "error"]).optional() }).nullish(),
  ...cached,
});

const nested = z.strictObject({
  type: z.literal("content"),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [text, image]))]),
});

export const document = z.strictObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [base64, plain, nested, url, file]),
  citations: citationsConfig.nullish(),
  context: z.string().nullish(),
  title: z.string().nullish(),
  ...cached,
});

export const searchResult = z.strictObject({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(text),
  citations: citationsConfig.nullish(),
  ...cached,
});

export const containerUpload = z.strictObject({ type: z.literal("container_upload"), file_id: z.string(), ...cached });
