import type { Handed, TaskEvent } from "./history.ts";
import type { Place } from "./place.ts";
import { toolName } from "./tools.ts";
import type { World } from "./world.ts";

/** A task that an agent handed over, under a text of its own: however often its call is run, it has one sub-session. */
export class Task {
  readonly n: number;
  /** The tool that it names. */
  readonly wanted: string;
  /** What its agent hands on. */
  readonly below: readonly Task[];
  /** What is left to happen while its requests are out. */
  readonly events: TaskEvent[];
  /** Its sub-session, once it began. */
  place: Place | null = null;
  /** Its agent said its last word. */
  done = false;

  constructor(n: number, tool: number, below: readonly Task[], events: readonly TaskEvent[]) {
    this.n = n;
    this.wanted = toolName(tool);
    this.below = below;
    this.events = [...events];
  }

  get text(): string {
    return `Task ${this.n}: use ${this.wanted}.`;
  }

  /** What its agent says last. */
  get said(): string {
    return `Done with task ${this.n}.`;
  }
}

/** Makes a task, and those that its agent hands on. */
export function newTask({ tasks }: World, tool: number, { below = [], events = [] }: Partial<Handed>): Task {
  const add = (...args: [number, readonly Task[], readonly TaskEvent[]]) => {
    const task = new Task(tasks.length, ...args);
    tasks.push(task);
    return task;
  };
  const inner = below.map((one, index) => add(one, [], index === 0 ? events.filter((event) => event.below) : []));
  return add(tool, inner, below.length === 0 ? events : events.filter((event) => !event.below));
}

/** The task whose text is somewhere in these words. Throws where there is none. */
export function taskIn({ tasks, findings }: World, words: string): Task {
  const task = tasks[Number(/Task (\d+): use/.exec(words)?.[1] ?? Number.NaN)];
  if (task === undefined) throw findings.broken(`nobody handed this task over: ${words.slice(0, 200)}`);
  return task;
}

/** Notes where a task is worked on. Throws where that is another sub-session than before, or another task's. */
export function worksOn({ tasks, findings }: World, task: Task, place: Place): void {
  if (task.place !== null && task.place !== place) throw findings.broken(`task ${task.n} has two sub-sessions`);
  const other = tasks.find((one) => one !== task && one.place === place);
  if (other !== undefined) throw findings.broken(`the tasks ${other.n} and ${task.n} have one sub-session`);
  if (task.place !== null) findings.seen.add("task run again");
  else if (place.parent?.parent) findings.seen.add("task below");
  task.place = place;
}
