import type { Numbered } from "../../src/values/entry.ts";
import { call, parkAt, type SharedPart, say } from "../emulators/common/answer.ts";
import type { Exchange } from "../emulators/common/exchange.ts";
import { createParking } from "../emulators/common/parking.ts";
import type { Fault } from "./history.ts";
import { playSummary, summaryAsked, taskIn } from "./player.ts";
import { EDITIONS } from "./tools.ts";
import { modelIn, wireOf } from "./wires.ts";
import { textOf } from "./workerd-entries.ts";
import { madeOf } from "./workerd-made.ts";
import type { Asked, Deed } from "./workerd-models.ts";
import { Place } from "./workerd-place.ts";

/** No sub-session needs so long to begin, or to go on by itself. */
const REST_MS = 60_000;

const TOOLS = ["hang", ...[...EDITIONS(0).core, ...EDITIONS(0).lazy].map(({ spec }) => spec.name)];

/** A death of a sub-session's isolate, at one of its requests from 0. */
export interface Death {
  readonly at: number;
  readonly fault: Fault;
}

/** A task that was handed over, and the session that works on it. */
export interface Task {
  readonly id: string;
  /** The tool that it names. */
  readonly wanted: string;
  /** The session that handed it over. */
  readonly parent: Place;
  readonly place: Place;
  /** Its session's conversation, once it began. */
  conversation: string | null;
  /**
   * `handed`: its session has not begun. `runs`, `over`: its turn. `held`: it is to die where it is. `dead`: it did, and
   * nobody has gone on with it; its parent may.
   */
  state: "handed" | "runs" | "held" | "dead" | "over";
  death: Death | null;
  /** Its tool `hang` was called, and will not return. */
  hangs: boolean;
  requests: number;
  /** How often its isolate died, or its parent's, before the call had its result. */
  deaths: number;
  answered: boolean;
  /** Its isolate lost its lease because the machine was too busy: then it goes on without its parent. */
  stalled: boolean;
  /** Its turn died before this process. */
  mayGoOn: boolean;
}

/** The tasks that a history's model hands over: what their model says, where their isolates die, and what becomes of them. */
export class Tasks {
  readonly #all = new Map<string, Task>();
  readonly #hung = new Set<string>();
  readonly #dies: () => Death | null;
  readonly #park: (fault: string) => void;
  #changed = Promise.withResolvers<void>();

  /** `dies` draws where a task's isolate dies; `park` is told that one is to die now. */
  constructor(dies: () => Death | null, park: (fault: string) => void) {
    this.#dies = dies;
    this.#park = park;
  }

  of(parent: Place): Task[] {
    return [...this.#all.values()].filter((task) => task.parent === parent);
  }

  get all(): Task[] {
    return [...this.#all.values()];
  }

  /** An answer that its session stores: each task in it is handed over. */
  handed(parts: readonly SharedPart[], parent: Place): void {
    for (const part of parts) {
      const task = part.kind === "call" && part.name === "transfer_task" ? taskIn(part.json) : null;
      if (task === null) continue;
      const begun = { conversation: null, state: "handed", requests: 0, deaths: 0, answered: false } as const;
      const fate = { death: this.#dies(), hangs: false, mayGoOn: false, stalled: false };
      this.#all.set(task.id, { ...task, parent, place: new Place(task.id), ...begun, ...fate });
    }
  }

  /**
   * The next request of a session goes out: what it handed over and has not begun never will, since its answer was lost.
   * Answers whether it goes on without a task that is not over, as where the task's isolate lost its lease.
   */
  left(parent: Place): boolean {
    const open = this.of(parent).filter(({ answered, deaths }) => !answered && deaths === 0);
    for (const task of this.of(parent)) if (task.state === "handed") this.#to(task, "dead");
    const left = open.filter(({ state }) => state === "held" || state === "runs");
    for (const task of left) task.stalled = true;
    return left.length > 0;
  }

  /** A sub-session is begun for a task, or asked again to. Throws where another one was. */
  began(id: string, conversation: string): void {
    const task = this.#task(id);
    if (task.conversation !== null && task.conversation !== conversation)
      throw new Error(`task ${id} has a second sub-session`);
    task.conversation = conversation;
    if (task.state === "handed" || task.state === "dead") this.#to(task, "runs");
  }

  /** A sub-session's turn ended. */
  over(conversation: string): void {
    const task = this.all.find((one) => one.conversation === conversation);
    if (task !== undefined) this.#to(task, "over");
  }

  /** What a deploy let break breaks in sub-sessions, too. */
  allow(reason: "renderer"): void {
    for (const { place } of this.#all.values()) place.checker.allow(reason);
  }

  /** A sub-session's request is about to be sent. Resolves when it may. */
  async send(id: string): Promise<void> {
    const task = this.#task(id);
    if (task.state === "dead") this.#to(task, "runs");
    if (this.#isDue(task, "dead_before_send")) await this.#hold(task, "dead_before_send");
  }

  /** The tool `hang` of a sub-session runs. */
  async hang(callId: string): Promise<string> {
    const task = this.#hung.has(callId) ? null : this.all.find(({ hangs }) => hangs);
    this.#hung.add(callId);
    // Where two of them hang, either is as good.
    if (task) await this.#hold(task, "dead_in_tool");
    return "Went on.";
  }

  /** What a sub-session's model answers, and where the answer is held. */
  answer(asked: Asked): Deed {
    const task = this.#task(taskIn(asked.bodyText)?.id ?? "");
    const { place } = task;
    const aside = summaryAsked(asked.bodyText);
    const { death } = task;
    const fault = aside === null && death?.at === task.requests ? death.fault : null;
    const lost = fault === "dead_before_headers" || fault === "dead_in_stream";
    place.made(madeOf(asked, { aside, lost, whole: !lost }, TOOLS, place.loaded));
    if (aside !== null) {
      place.after(() => place.compacted());
      return { kind: "answer", parts: playSummary("none", task.requests) };
    }
    task.requests += 1;
    if (fault !== "dead_before_headers") place.after(() => place.checker.begun(fault !== "dead_in_stream"));
    if (fault === "dead_in_tool") task.hangs = true;
    const parts = playTask(task, asked);
    if (lost) {
      const parking = createParking<Exchange>();
      parking.parked.then(() => this.#hold(task, fault));
      parts.push(parkAt(fault === "dead_before_headers" ? "headers" : 2 + (task.requests % 2), parking));
    }
    return { kind: "answer", parts };
  }

  /**
   * Resolves when no task is on its way: each is over, is to die where it is, or is dead. Rejects with the one that is not
   * after a minute.
   */
  async rest(): Promise<void> {
    const late = AbortSignal.timeout(REST_MS);
    const tooLate = new Promise<void>((resolve) => late.addEventListener("abort", () => resolve()));
    for (;;) {
      const moving = this.all.find(({ state }) => state === "handed" || state === "runs");
      if (moving === undefined) return;
      if (late.aborted) throw new Error(`task ${moving.id}, handed over, is still ${moving.state}`);
      await Promise.race([this.#changed.promise, tooLate]);
    }
  }

  /** Another process runs. `runner`: what was begun goes on by itself. */
  revive(runner: boolean): void {
    for (const task of this.#all.values()) {
      task.place.revive();
      if (!task.answered) task.deaths += 1;
      if (task.state === "over") continue;
      task.mayGoOn = runner;
      this.#to(task, runner && task.conversation !== null ? "runs" : "dead");
    }
  }

  /** A session is deleted, and with it what its tasks made. Answers their conversations. */
  drop(parent: Place): string[] {
    const gone = this.of(parent);
    for (const { id } of gone) this.#all.delete(id);
    return gone.flatMap(({ conversation }) => conversation ?? []);
  }

  /**
   * Checks the results of tasks from the index `known` on: each is what its sub-session said last, or the turn died while it
   * worked and was left for another one. Throws what is not so. Answers what came up.
   */
  checkResults(entries: readonly Numbered[], known: number, stalled: boolean): string[] {
    const tasks = new Map(
      entries.flatMap(({ seq, entry }) =>
        entry.kind !== "assistant"
          ? []
          : entry.blocks.flatMap((block): [string, Task | undefined][] =>
              block.type === "call" && block.name === "transfer_task"
                ? [[`${seq} ${block.id}`, this.#all.get(taskIn(block.input)?.id ?? "")]]
                : [],
            ),
      ),
    );
    return entries.slice(known).flatMap(({ seq, entry }) => {
      if (entry.kind !== "results") return [];
      const goesOn = entries.some(
        (one) => one.seq > seq && one.entry.kind === "assistant" && one.entry.turn === entry.turn,
      );
      return entry.results.flatMap((result) => {
        const task = tasks.get(`${entry.of} ${result.call}`);
        if (task === undefined) return [];
        const { status, session } = result;
        task.answered = true;
        // Where its owner changed the mode meanwhile; that a mode did refuse it is checked with the modes.
        if (status === "denied") return ["task refused"];
        const lostLease = task.stalled || (task.deaths === 0 && task.state !== "over");
        if (status === "interrupted" && (stalled || lostLease)) return ["stalled"];
        if (status === "interrupted" && task.deaths > 0 && !goesOn) return ["task interrupted"];
        const said = textOf(result);
        if (status !== "ok" || said !== lastWord(task) || session?.conversation !== task.conversation)
          throw new Error(`task ${task.id} came to ${status}: ${said}`);
        return [task.deaths > 0 ? "task joined again" : "task done"];
      });
    });
  }

  #task(id: string): Task {
    const task = this.#all.get(id);
    if (task === undefined) throw new Error(`nobody handed over task ${id}`);
    return task;
  }

  #isDue({ death, requests }: Task, fault: Fault): boolean {
    return death?.fault === fault && death.at === requests;
  }

  #hold(task: Task, fault: Fault): Promise<never> {
    task.death = null;
    task.hangs = false;
    this.#to(task, "held");
    this.#park(`sub ${fault}`);
    return new Promise(() => {});
  }

  #to(task: Task, state: Task["state"]): void {
    task.state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/** It loads the tool that its task names, uses it, and says that it is done. */
function playTask({ id, wanted, hangs }: Task, { api, bodyText, visible }: Asked): SharedPart[] {
  const used = [...wireOf(modelIn(api, bodyText)).view(bodyText).calls.values()].includes(wanted);
  if (used) return [say(lastWord({ id })), ...(hangs ? [call("hang")] : [])];
  const next = visible.includes(wanted) ? call(wanted, { text: "x" }) : call("tool_search", { query: wanted });
  return [next, ...(hangs ? [call("hang")] : [])];
}

function lastWord({ id }: Pick<Task, "id">): string {
  return `Done with ${id}.`;
}
