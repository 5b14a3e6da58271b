import { createHash } from "node:crypto";
import * as z from "zod";
import { toldEntries } from "../context/effective.ts";
import { keepMs } from "../define/retention.ts";
import type { Agent } from "../define/types.ts";
import type { Branch } from "../session/branch.ts";
import type { BlobRow } from "../session/contract.ts";
import { titled } from "../session/start.ts";
import { type Entry, encodeEntry, type Numbered, type Part } from "../values/entry.ts";
import { badRequest, parse } from "./bad-request.ts";
import { decodeBase64 } from "./base64.ts";
import { FORMAT, isSigned } from "./export.ts";
import { IMAGES, isOf, type Media } from "./media.ts";

/** The turn that says that its entries were brought in. */
const TURN = "import";

const MEDIA: readonly Media[] = [...IMAGES, "application/pdf"];

const source = z.discriminatedUnion("type", [
  z.object({ type: z.literal("blob"), hash: z.string(), media: z.string() }),
  z.object({ type: z.literal("url"), url: z.url({ protocol: /^https$/ }).transform((url) => url.toWellFormed()) }),
]);
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), source }),
  z.object({ type: z.literal("document"), source, name: z.string().optional() }),
]);
const numbered = { seq: z.int().min(1), at: z.int().min(0) };
const said = z.looseObject({ type: z.string(), text: z.string().optional() });
const SPOKEN: readonly string[] = ["user", "assistant", "rewind"];
const entry = z.union(
  [
    z.object({ ...numbered, kind: z.literal("user"), content: z.array(part) }),
    z.object({ ...numbered, kind: z.literal("assistant"), content: z.array(said) }),
    z.object({ ...numbered, kind: z.literal("rewind"), to: z.int().min(1) }),
    z
      .object({ ...numbered, kind: z.string().refine((kind) => !SPOKEN.includes(kind)) })
      .transform(({ seq, at }) => ({ seq, at, kind: "silent" as const })),
  ],
  { error: "is no entry of an export" },
);
const body = z.object({
  format: z.literal(FORMAT),
  title: z.string().default(""),
  entries: z.array(entry).refine(isInOrder, "their numbers must rise"),
  blobs: z.array(z.object({ hash: z.string(), media: z.string(), base64: z.string() })).default([]),
  record: z.string().optional(),
  signature: z.string().optional(),
});
type Body = z.infer<typeof body>;

/**
 * What an import makes. A record that this server signed is taken as it is. Anything else is trusted in nothing: what
 * users and the assistant said comes in as a client's, and no call, result, thinking, deferral or frozen byte does.
 * Throws `bad_request` for what is no export, and for a signature that is not ours.
 */
export function imported(
  value: unknown,
  agent: Agent,
  env: Cloudflare.Env,
): { readonly branch: Branch; readonly signed: boolean } {
  const given = parse(body, value);
  if (given.signature === undefined) return { branch: untrusted(given, agent), signed: false };
  if (given.record === undefined || !isSigned(given.record, given.signature, env)) {
    throw badRequest("signature", "this server did not sign that record; without a signature it comes in untrusted");
  }
  const branch: Branch = JSON.parse(given.record);
  if (branch.v !== 1) throw badRequest("record", "this release does not know its version");
  if (branch.agent !== agent.name) {
    throw badRequest("record", `it is a session with ${branch.agent}, and can't go on with ${agent.name}`);
  }
  const mode = Object.hasOwn(agent.modes, branch.mode) ? branch.mode : "agent";
  return { branch: { ...branch, mode, from: null, keepMs: keepMs(agent) }, signed: true };
}

function untrusted({ title, entries, blobs }: Body, agent: Agent): Branch {
  const held = new Map(blobs.map((blob, index) => [blob.hash, checkedBlob(blob, `blobs[${index}]`)]));
  const told = toldEntries(entries.flatMap((one, index) => brought(one, held, `entries[${index}]`)));
  const first = told.findIndex(({ entry }) => entry.kind === "user");
  if (first < 0) throw badRequest("entries", "there is no user message");
  const kept = told.slice(first).filter(({ entry }) => entry.kind !== "rewind");
  const users = kept.flatMap(({ entry }, index) => (entry.kind === "user" ? [index + 1] : []));
  return {
    v: 1,
    agent: agent.name,
    title: titled(title),
    mode: "agent",
    keepMs: keepMs(agent),
    from: null,
    newest: { status: "done", turn: TURN, user_seq: users.at(-1) ?? 0, refused_from: 0 },
    wire: "",
    sentThrough: 0,
    lastSeq: kept.length,
    cuts: "[]",
    deferrals: null,
    entries: kept.map(({ entry }, index) => [index + 1, encodeEntry(entry)]),
    texts: [],
    chains: [],
    blobs: [...held.values()],
  };
}

function isInOrder(entries: readonly { readonly seq: number }[]): boolean {
  return entries.every(({ seq }, index) => index === 0 || seq > (entries[index - 1]?.seq ?? 0));
}

/** An entry as a client's; none where nothing of it was said. */
function brought(one: Body["entries"][number], blobs: ReadonlyMap<string, BlobRow>, path: string): Numbered[] {
  const made = { v: 1, origin: "client", turn: TURN, at: one.at } as const;
  const numbered = (entry: Entry): Numbered[] => [{ seq: one.seq, entry }];
  switch (one.kind) {
    case "user": {
      const content = one.content.map((part, index) => checkedPart(part, blobs, `${path}.content[${index}]`));
      return numbered({ ...made, kind: "user", content });
    }
    case "assistant": {
      const blocks = one.content.flatMap(({ type, text }) =>
        type === "text" && text !== undefined ? [{ type: "text", text: text.toWellFormed() } as const] : [],
      );
      if (blocks.every(({ text }) => text.trim() === "")) return [];
      return numbered({ ...made, kind: "assistant", model: "", chain: "", epoch: 0, blocks, stop: "end" });
    }
    case "rewind":
      return numbered({ ...made, kind: "rewind", to: one.to, why: "edited" });
    case "silent":
      return [];
  }
}

/** A part whose bytes came along, if they are ours to keep. */
function checkedPart(given: z.infer<typeof part>, blobs: ReadonlyMap<string, BlobRow>, path: string): Part {
  if (given.type === "text") return { type: "text", text: given.text.toWellFormed() };
  const { source } = given;
  if (source.type === "blob") {
    const blob = blobs.get(source.hash);
    if (blob === undefined) throw badRequest(path, "its content is not among the blobs");
    if (blob.media !== source.media) throw badRequest(path, `its content is ${blob.media}`);
  }
  if (given.type === "image") return { type: "image", source };
  return { type: "document", source, ...(given.name ? { name: given.name.toWellFormed() } : {}) };
}

function checkedBlob({ hash, media, base64 }: BlobRow, path: string): BlobRow {
  const known = MEDIA.find((one) => one === media);
  if (known === undefined) throw badRequest(path, `${MEDIA.join(", ")} can be brought in`);
  const bytes = decodeBase64(base64);
  if (bytes === null || !isOf(bytes, known)) throw badRequest(path, `it does not hold ${media} in base64`);
  if (createHash("sha256").update(bytes).digest("hex") !== hash)
    throw badRequest(path, "its hash is of something else");
  return { hash, media, base64 };
}
