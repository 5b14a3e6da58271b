import * as z from "zod";
import { badRequest, parse } from "../../http/bad-request.ts";

/** Messages a request may hold. */
const MESSAGES = 2_000;

/** Characters of what is neither a message's text nor an attachment. */
const CHARS = { name: 128, filename: 255, stop: 1_000 } as const;

const text = z.looseObject({ type: z.literal("text"), text: z.string() });
const image = z.looseObject({
  type: z.literal("image_url"),
  image_url: z.preprocess(
    (value) => (typeof value === "string" ? { url: value } : value),
    z.looseObject({ url: z.string() }),
  ),
});
const file = z.looseObject({
  type: z.literal("file"),
  file: z.looseObject({ file_data: z.string().nullish(), filename: z.string().max(CHARS.filename).nullish() }),
});
const audio = z.looseObject({ type: z.literal("input_audio") });

const userParts = z.discriminatedUnion("type", [text, image, file, audio], {
  error: "a part is of type text, image_url or file",
});
const systemParts = z.discriminatedUnion("type", [text], { error: "a part of this role is of type text" });
/** What another model once answered may hold parts that nobody can send back; text is taken from it. */
const assistantParts = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
});

/** Text, or a list of parts, or nothing; in every case a list of parts afterwards. */
function content<T extends z.ZodType>(part: T) {
  return z.preprocess(
    (value) => (typeof value === "string" ? [{ type: "text", text: value }] : (value ?? [])),
    z.array(part, { error: "content is text or a list of parts" }),
  );
}

const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.enum(["system", "developer"]), content: content(systemParts) }),
    z.looseObject({ role: z.literal("user"), content: content(userParts) }),
    z.looseObject({ role: z.literal("assistant"), content: content(assistantParts) }),
    z.looseObject({ role: z.literal("tool") }),
  ],
  { error: "role is system, developer, user, assistant or tool" },
);

/** No provider takes half a surrogate pair. */
function wholeCharacters(text: string): string {
  return text.toWellFormed();
}

/** Where a body holds attachments: only there may it hold more than text. */
export const ATTACHMENTS = [
  "messages[].content[].image_url",
  "messages[].content[].image_url.url",
  "messages[].content[].file.file_data",
] as const;

/** The body of a request, as far as it is looked at. Fields that are not here are ignored. */
const body = z.looseObject({
  model: z.string().max(CHARS.name).nullish(),
  messages: z.array(message).max(MESSAGES, { error: `at most ${MESSAGES} messages` }),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z
    .preprocess(
      (value) => (value === "" ? [] : typeof value === "string" ? [value] : value),
      z
        .array(z.string().min(1).max(CHARS.stop).transform(wholeCharacters), {
          error: "stop is text or a list of texts",
        })
        .max(16),
    )
    .nullish(),
  reasoning_effort: z.enum(["low", "medium", "high"]).nullish(),
  metadata: z.looseObject({ conversation_id: z.string().nullish() }).nullish(),
  conversation: z
    .preprocess((value) => (typeof value === "string" ? { id: value } : value), z.looseObject({ id: z.string() }))
    .nullish(),
  n: z.int().nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().nullish(),
  modalities: z.array(z.string()).nullish(),
  audio: z.unknown().optional(),
});

export type ChatBody = z.output<typeof body>;
export type ChatMessage = ChatBody["messages"][number];
export type UserPart = z.output<typeof userParts>;

/** Reads the body of a Chat Completions request, or throws a `bad_request` that says where and why. */
export function parseChatBody(value: unknown): ChatBody {
  const request = parse(body, value);
  for (const [field, asked, why] of refusals(request)) {
    if (asked) throw badRequest(field, why, "unsupported_parameter");
  }
  if (!request.messages.some(({ role }) => role === "user")) throw badRequest("messages", "there is no user message");
  const last = request.messages.length - 1;
  if (request.messages[last]?.role !== "user") {
    throw badRequest(`messages[${last}].role`, "the last message must be the user's");
  }
  return request;
}

/** What would change the answer and is not done here: refused by name, never dropped in silence. */
function refusals(request: ChatBody): (readonly [field: string, asked: boolean, why: string])[] {
  const tools = "tools of the client can't be used; the agent has its own";
  return [
    ["tools", (request.tools ?? []).length > 0, tools],
    ["functions", (request.functions ?? []).length > 0, tools],
    ["n", (request.n ?? 1) !== 1, "one answer at a time: n must be 1"],
    ["response_format", (request.response_format?.type ?? "text") !== "text", "only the type text is supported"],
    ["logprobs", request.logprobs === true, "log probabilities are not available"],
    ["top_logprobs", (request.top_logprobs ?? 0) !== 0, "log probabilities are not available"],
    ["audio", (request.audio ?? null) !== null, "there is no audio output"],
    ["modalities", (request.modalities ?? []).some((kind) => kind !== "text"), "text is the only modality"],
  ];
}
