import * as z from "zod";

const text = z.object({ type: z.literal("text"), text: z.string() });
const part = z.discriminatedUnion("type", [text, z.object({ type: z.enum(["image", "document"]) })]);
const message = z.object({ type: z.literal("message"), content: z.array(part) });
const call = z.object({ type: z.literal("call"), id: z.string(), name: z.string(), input: z.string() });
const result = z.object({
  type: z.literal("result"),
  call: z.string(),
  name: z.string(),
  status: z.string(),
  host: z.boolean().optional(),
  content: z.array(part),
  loads: z.array(z.string()),
});
const named = z.array(z.object({ name: z.string() }));
const body = z.object({
  maxOutputTokens: z.number(),
  stop: z.array(z.string()),
  tools: named,
  deferred: named,
  items: z.array(z.object({ block: z.discriminatedUnion("type", [message, text, call, result]) })),
});

/** What one tool answered. */
export interface Answer {
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}

/** A request as the scripted model sees it. */
export interface View {
  /** Text of the newest user message; empty where there is none. */
  readonly question: string;
  /** Text of the user message before. */
  readonly before: string | null;
  /** Number of user messages. */
  readonly messages: number;
  /** What tools answered since the question. */
  readonly answers: readonly Answer[];
  /** Tools that may be called: inline ones, and deferred ones that some item loads. */
  readonly visible: ReadonlySet<string>;
  readonly maxOutputTokens: number;
  readonly stop: readonly string[];
}

/** Reads a body that {@link writeBody} wrote. Throws when it is anything else. */
export function readBody(text: string): View {
  const { items, tools, deferred, maxOutputTokens, stop } = body.parse(JSON.parse(text));
  const messages: { readonly text: string; readonly answers: Answer[] }[] = [];
  for (const { block } of items) {
    if (block.type === "message") messages.push({ text: textOf(block.content), answers: [] });
    if (block.type !== "result" || block.host) continue;
    messages.at(-1)?.answers.push({ name: block.name, ok: block.status === "ok", text: textOf(block.content) });
  }
  const declared = new Set(deferred.map(({ name }) => name));
  const loaded = items.flatMap(({ block }) => (block.type === "result" ? block.loads : []));
  const question = messages.at(-1);
  return {
    question: question?.text ?? "",
    before: messages.at(-2)?.text ?? null,
    messages: messages.length,
    answers: question?.answers ?? [],
    visible: new Set([...tools.map(({ name }) => name), ...loaded.filter((name) => declared.has(name))]),
    maxOutputTokens,
    stop,
  };
}

function textOf(content: readonly z.infer<typeof part>[]): string {
  return content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
}
