import type { TaskMark } from "../../session/task-list.ts";
import { malformed } from "./errors.ts";

type Last = Pick<TaskMark, "at" | "turn">;

/** Says where a page of tasks ended, in a text that goes into a URL. */
export function writePageToken({ at, turn }: Last): string {
  return `${at.toString(36)}.${turn}`;
}

/** Reads back what {@link writePageToken} made; null for no token. Throws -32602 for any other text. */
export function readPageToken(token: string): Last | null {
  if (token === "") return null;
  const [, at, turn] = /^([0-9a-z]{1,11})\.(turn_[0-9a-f]{32})$/.exec(token) ?? [];
  if (at === undefined || turn === undefined) throw malformed("pageToken", "is not one that was given out here");
  return { at: Number.parseInt(at, 36), turn };
}
