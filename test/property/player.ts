import { SUMMARY_REQUEST } from "../../src/context/compaction.ts";
import { call, callUnseen, type SharedPart, say, think } from "../emulators/common/answer.ts";
import { helperOf } from "./agent.ts";
import { type History, LAZY, type Planned, type PlannedCall, type SummaryFault } from "./history.ts";
import { toolName } from "./tools.ts";

/** JSON that changes when it is parsed and written again. */
const ODD = '{"text":"\\ud800 and \\u0000","10":1,"2":12345678901234567890,"__proto__":{"a":1e400}}';

type Handing = Extract<PlannedCall, { kind: "transfer" }>;

/**
 * What the model of an agent says in its `n`th request, as the history planned it and as far as the request lets it. A task
 * that it hands over is told from all others by its `words`: those of the request and of the call.
 */
export function play(
  agent: string,
  history: Pick<History, "thinking">,
  planned: Planned | null,
  visible: readonly string[],
  n: number,
  words: (planned: Handing, id: string) => string = ({ tool }, id) => taskOf(tool, id),
): SharedPart[] {
  const thoughts = history.thinking ? [think(`Thought ${n}.`)] : [];
  if (planned === null) return [...thoughts, say(`That is all, says ${n}.`)];
  const calls = planned.calls.map((one, index) => {
    return one.kind === "transfer" && visible.includes("transfer_task")
      ? call("transfer_task", { agent: helperOf(agent), task: words(one, `${n}.${index}`) })
      : playCall(one, new Set(visible));
  });
  const waits = made(new Set(visible), n % 2 === 0 ? "hang" : "once");
  if (planned.fault === "dead_in_tool") calls.push(waits);
  // More than run at the same time, so that some have not begun when it is over.
  if (planned.fault === "handed_in_tool") calls.unshift(waits, ...Array.from({ length: 4 }, () => noted(visible)));
  const text = planned.text || calls.length === 0 ? [say(`Step ${n} of it.`)] : [];
  const between = history.thinking && n % 3 === 0 && calls.length > 0 ? [think(`On second thought ${n}.`)] : [];
  return [...thoughts, ...text, ...between, ...calls];
}

/** Whether a request asks for a summary: for the first time, `again` where no call is allowed any more, or not (null). */
export function summaryAsked(body: string): "first" | "again" | null {
  if (!body.includes(JSON.stringify(SUMMARY_REQUEST).slice(1, -1))) return null;
  return /"tool_choice":("none"|\{"type":"none"\})/.test(body) ? "again" : "first";
}

/** What the model says when it is asked for a summary. */
export function playSummary(fault: SummaryFault, n: number): SharedPart[] {
  return fault === "calls" ? [call("note", { text: "no" })] : [say(`Summary ${n}.`)];
}

/** A task that names a tool, and itself. */
function taskOf(tool: number, id: string): string {
  return `Use ${toolName(tool)} for task ${id}.`;
}

/** What a text says of a task; null where it says nothing of one. */
export function taskIn(text: string): { readonly id: string; readonly wanted: string } | null {
  const [, wanted, id] = /Use (lazy_\d) for task (\d+\.\d+)\./.exec(text) ?? [];
  return wanted === undefined || id === undefined ? null : { id, wanted };
}

function playCall(planned: PlannedCall, visible: ReadonlySet<string>): SharedPart {
  switch (planned.kind) {
    case "search": {
      const names = [planned.tool, ...(planned.more === null ? [] : [planned.more])].map(toolName);
      return call("tool_search", { query: names.join(", ") });
    }
    case "mixed_search":
      return call("tool_search", { query: `note, ${toolName(planned.tool)}` });
    case "empty_search":
      return call("tool_search", { query: "zzz qqq xxx" });
    case "use": {
      const name = toolName(planned.tool);
      if (visible.has(name)) return call(name, { text: "x" });
      return planned.tool < LAZY ? call("tool_search", { query: name }) : made(visible, "note", { text: name });
    }
    case "note":
      return made(visible, "note", { text: "a note" });
    case "fail":
      return made(visible, "fail");
    case "unknown":
      return callUnseen("no_such_tool", {});
    case "install":
      return made(visible, "install", { tool: planned.tool });
    case "odd_input":
      return made(visible, "note", ODD);
    case "forbidden":
      return callUnseen(toolName(planned.tool), { text: "x" });
    case "enter_plan":
      return visible.has("enter_plan_mode") ? call("enter_plan_mode") : made(visible, "note", { text: "instead" });
    case "submit_plan":
      return visible.has("submit_plan")
        ? call("submit_plan", { plan: "A plan of lazy_0 and late_0." })
        : made(visible, "note", { text: "instead" });
    case "ask":
      return visible.has("ask") ? call("ask") : made(visible, "note", { text: "instead" });
    case "transfer":
      return made(visible, "note", { text: "instead" });
  }
}

function noted(visible: readonly string[]): SharedPart {
  return made(new Set(visible), "note", { text: "meanwhile" });
}

/** A call, also of what the mode withholds. */
function made(visible: ReadonlySet<string>, name: string, input: object | string = {}): SharedPart {
  return visible.has(name) ? call(name, input) : callUnseen(name, input);
}
