import type { Allowed } from "./module-state.ts";

/** Module state that is right where it is. Each entry says why that is so; one that is not needed fails the check. */
export const ALLOWED_STATE: readonly Allowed[] = [];
