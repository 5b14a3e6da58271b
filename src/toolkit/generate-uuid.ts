import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { toHex } from "./bytes.ts";

/** Fresh identifiers. */
export const generateUuid = defineTool({
  name: "generate_uuid",
  description: "Generates unique identifiers: UUID version 4 (random) or version 7 (sorted by time).",
  risk: "read",
  idempotent: true,
  input: z.object({
    count: z.int().min(1).max(50).default(1).describe("How many."),
    version: z
      .union([z.literal(4), z.literal(7)])
      .default(4)
      .describe("4: random; 7: begins with the time."),
  }),
  execute: ({ count, version }) => ({
    uuids: Array.from({ length: count }, () => (version === 4 ? crypto.randomUUID() : uuid7(Date.now()))),
  }),
});

/** A UUID of version 7 (RFC 9562 §5.7): 48 bits of milliseconds, the rest by chance. */
export function uuid7(now: number): string {
  const time = Math.floor(now).toString(16).padStart(12, "0");
  const chance = crypto.getRandomValues(new Uint8Array(10));
  const hex = toHex(chance);
  const variant = (((chance[2] ?? 0) & 0x3f) | 0x80).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(6, 8)}-${hex.slice(8)}`;
}
