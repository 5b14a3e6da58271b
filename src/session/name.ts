import type { SessionId } from "./contract.ts";

/** Name of a session's object and key of its record in D1: a JSON array, so that no two sessions can share one. */
export function sessionName(id: SessionId): string {
  return JSON.stringify([id.owner, id.agent, id.conversation]);
}

/** Reads back what {@link sessionName} made; null for any other text. */
export function parseSessionName(name: string | undefined): SessionId | null {
  if (name === undefined) return null;
  let value: unknown;
  try {
    value = JSON.parse(name);
  } catch {
    return null; // An object that was named by other code has no session.
  }
  if (!Array.isArray(value) || value.length !== 3) return null;
  const [owner, agent, conversation]: unknown[] = value;
  if (typeof owner !== "string" || typeof agent !== "string" || typeof conversation !== "string") return null;
  return { owner, agent, conversation };
}
