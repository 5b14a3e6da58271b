import { call, callUnseen, type SharedPart, say, think } from "../emulators/common/answer.ts";
import { toolName } from "./agent.ts";
import { type History, LAZY, type Planned, type PlannedCall } from "./history.ts";

/** JSON that changes when it is parsed and written again. */
const ODD = '{"text":"\\ud800 and \\u0000","10":1,"2":12345678901234567890,"__proto__":{"a":1e400}}';

/** What the model says in a request, as the history planned it and as far as the request lets it. */
export function play(
  history: Pick<History, "thinking">,
  planned: Planned | null,
  visible: readonly string[],
  n: number,
): SharedPart[] {
  const thoughts = history.thinking ? [think(`Thought ${n}.`)] : [];
  if (planned === null) return [...thoughts, say(`That is all, says ${n}.`)];
  const calls = planned.calls.map((one) => playCall(one, new Set(visible)));
  if (planned.fault === "dead_in_tool") calls.push(call(n % 2 === 0 ? "hang" : "once"));
  const text = planned.text || calls.length === 0 ? [say(`Step ${n} of it.`)] : [];
  const between = history.thinking && n % 3 === 0 && calls.length > 0 ? [think(`On second thought ${n}.`)] : [];
  return [...thoughts, ...text, ...between, ...calls];
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
      return planned.tool < LAZY ? call("tool_search", { query: name }) : call("note", { text: name });
    }
    case "note":
      return call("note", { text: "a note" });
    case "fail":
      return call("fail", {});
    case "unknown":
      return callUnseen("no_such_tool", {});
    case "install":
      return call("install", { tool: planned.tool });
    case "odd_input":
      return call("note", ODD);
  }
}
