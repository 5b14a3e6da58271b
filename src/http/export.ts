import { createHmac, timingSafeEqual } from "node:crypto";
import type { Branch } from "../session/branch.ts";
import type { BlobRow } from "../session/contract.ts";
import { decodeEntry } from "../values/entry.ts";
import { HoldfastError } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";
import { type PublicEntry, publicEntry } from "./public-entry.ts";

export const FORMAT = "holdfast/1";

/** Whoever has it may take sessions out whole. */
const OPERATOR = "operator";

/** Fewer characters can be guessed. */
const SECRET_LENGTH = 24;

/** A session as it is taken out. */
export interface Export {
  readonly format: typeof FORMAT;
  readonly agent: string;
  readonly title: string;
  readonly mode: string;
  /** What the owner may see of it, as `GET …/entries` shows it. */
  readonly entries: readonly PublicEntry[];
  readonly blobs: readonly BlobRow[];
  /**
   * For an operator only: the session as it is stored, as JSON text of a {@link Branch}, with its deferrals and frozen
   * bytes.
   */
  readonly record?: string;
  /** Of `record`, where the server has a secret. */
  readonly signature?: string;
}

/** What the owner may take out: with the record, and signed, if they are an operator. */
export function exported(branch: Branch, owner: Owner, env: Cloudflare.Env): Export {
  const { agent, title, mode, entries, blobs } = branch;
  const record = owner.roles.includes(OPERATOR) ? JSON.stringify(branch) : null;
  const signature = record === null ? null : sign(record, env);
  return {
    ...{ format: FORMAT, agent, title, mode },
    entries: entries.map(([seq, text]) => publicEntry({ seq, entry: decodeEntry(text) })),
    blobs,
    ...(record === null ? {} : { record }),
    ...(signature === null ? {} : { signature }),
  };
}

/** Whether a server with this one's secret signed that record. */
export function isSigned(record: string, signature: string, env: Cloudflare.Env): boolean {
  const right = Buffer.from(sign(record, env) ?? "");
  const given = Buffer.from(signature);
  return right.length > 0 && right.length === given.length && timingSafeEqual(right, given);
}

/** HMAC-SHA256 in hex, by `HOLDFAST_SECRET`; null where there is none. What it is of stands before the text. */
function sign(record: string, env: Cloudflare.Env): string | null {
  const secret = env.HOLDFAST_SECRET ?? "";
  if (secret === "") return null;
  if (secret.length >= SECRET_LENGTH)
    return createHmac("sha256", secret).update(`export ${FORMAT}\n${record}`).digest("hex");
  throw new HoldfastError({
    reason: "internal",
    message: "This server's secret is not set up right. Its log says what is wrong.",
    detail: `HOLDFAST_SECRET has fewer than ${SECRET_LENGTH} characters.`,
  });
}
