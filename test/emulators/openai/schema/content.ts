import { z } from "zod";

const breakpoint = z.strictObject({ mode: z.literal("explicit"), ttl: z.enum(["30m", "12h"]).optional() });

/** Parts of the input take an explicit cache boundary. */
const bounded = { prompt_cache_breakpoint: breakpoint.nullish() };
const imageDetail = z.enum(["low", "high", "auto", "original"]);
const fileDetail = z.enum(["auto", "low", "high"]);

const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string(), ...bounded });

const inputImage = z.strictObject({
  type: z.literal("input_image"),
  detail: imageDetail.nullish(),
  file_id: z.string().nullish(),
  image_url: z.string().nullish(),
  ...bounded,
});

const inputFile = z.strictObject({
  type: z.literal("input_file"),
  detail: fileDetail.nullish(),
  file_data: z.string().nullish(),
  file_id: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish(),
  ...bounded,
});

/** What users, developers and tools send. */
export const inputPart = z.discriminatedUnion("type", [inputText, inputImage, inputFile]);

const outputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })).optional(),
  logprobs: z.array(z.looseObject({})).nullish(),
});

const refusal = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });

/** What the model said. */
export const outputPart = z.discriminatedUnion("type", [outputText, refusal]);

export type InputPart = z.infer<typeof inputPart>;
export type OutputPart = z.infer<typeof outputPart>;
