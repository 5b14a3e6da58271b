import { z } from "zod";

/** `cache_control` of a block, a tool or the request. */
export const cacheControl = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() });

/** The field as it stands on a block: absent and `null` mean the same. */
export const cached = { cache_control: cacheControl.nullish() };

/** Any JSON object. */
export const dictionary = z.record(z.string(), z.unknown());

/** Ids of tool calls. */
export const callId = z.string().regex(/^[a-zA-Z0-9_-]+$/);

/** Who made a call: the model, or code that the model ran. */
export const caller = z.strictObject({ type: z.string(), tool_id: z.string().optional() });

export const citationsConfig = z.strictObject({ enabled: z.boolean().nullish() });

export type CacheControl = z.infer<typeof cacheControl>;
