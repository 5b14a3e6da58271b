import type { TaskState } from "../values/task.ts";

/** Where a task stands among the others of its owner: those whose state changed last come first. */
export interface TaskMark {
  readonly conversation: string;
  readonly turn: string;
  readonly state: TaskState;
  /** When it came to stand so, in milliseconds since the epoch. */
  readonly at: number;
}

/** Which tasks, and which page of them. */
export interface TaskListQuery {
  readonly owner: string;
  readonly agent: string;
  readonly state: TaskState | null;
  /** Tasks whose state changed then or later, in milliseconds since the epoch. */
  readonly since: number;
  /** The last task of the page before; null for the first page. */
  readonly before: Pick<TaskMark, "at" | "turn"> | null;
  readonly limit: number;
}

/** A page of tasks, and how many there are on all pages. */
export interface TaskList {
  readonly marks: readonly TaskMark[];
  readonly more: boolean;
  readonly total: number;
}

/** Whether a task comes behind another one in a list. */
export function follows(mark: Pick<TaskMark, "at" | "turn">, before: Pick<TaskMark, "at" | "turn">): boolean {
  return mark.at < before.at || (mark.at === before.at && mark.turn > before.turn);
}

/** An owner's tasks with an agent, in all conversations, as D1 has them (so it may lag by a moment). */
export async function listTasks(db: D1Database, query: TaskListQuery): Promise<TaskList> {
  const { owner, agent, state, since, before, limit } = query;
  const from = `FROM sessions JOIN tasks ON tasks.session = sessions.id
    WHERE sessions.owner = ?1 AND sessions.agent = ?2 AND sessions.deleted_at IS NULL
      AND tasks.part = 0 AND tasks.rev <= sessions.rev AND tasks.at >= ?3 AND (?4 IS NULL OR tasks.state = ?4)
      AND NOT EXISTS (SELECT 1 FROM tasks AS later WHERE later.session = tasks.session AND later.task = tasks.task
        AND later.rev > tasks.rev AND later.rev <= sessions.rev)`;
  const [page, count] = await db.batch<TaskMark & { readonly total: number }>([
    db
      .prepare(
        `SELECT sessions.conversation, tasks.task AS turn, tasks.state, tasks.at ${from}
           AND (tasks.at < ?5 OR (tasks.at = ?5 AND tasks.task > ?6))
         ORDER BY tasks.at DESC, tasks.task LIMIT ?7`,
      )
      .bind(owner, agent, since, state, before?.at ?? Number.MAX_SAFE_INTEGER, before?.turn ?? "", limit + 1),
    db.prepare(`SELECT count(*) AS total ${from}`).bind(owner, agent, since, state),
  ]);
  const rows = page?.results ?? [];
  return { marks: rows.slice(0, limit), more: rows.length > limit, total: count?.results[0]?.total ?? 0 };
}
