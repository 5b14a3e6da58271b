import { type AnswerRequest, call, type Part, say } from "../emulators/anthropic/index.ts";

/** Where the process is killed. */
export type Point =
  /** After so many of the object's writes in one life of it. */
  | { readonly at: "write"; readonly n: number }
  /** Before the headers of a step's answer, or after so many of its events. */
  | { readonly at: "event"; readonly step: number; readonly n: number | "headers" }
  /** When that call has had its effect. */
  | { readonly at: "tool"; readonly call: string };

/** The turn: four steps; two calls at once, one of them not idempotent; a search that loads a tool; that tool. */
const STEPS: readonly (readonly Part[])[] = [
  [say("First I look."), call("look", {}, "c1_look"), call("send", {}, "c1_send")],
  [say("Now I need the weather."), call("tool_search", { query: "weather" }, "c2_search")],
  [call("weather", {}, "c3_weather"), call("send", {}, "c3_send")],
  [say("All is done.")],
];

export const CALLS = ["c1_look", "c1_send", "c2_search", "c3_weather", "c3_send"] as const;
export const LAST_TEXT = "All is done.";

/** More than any step has. */
const MOST_EVENTS = 20;
const MOST_WRITES = 12;

/** Every point of the turn, and some that it has not. */
export function allPoints(): Point[] {
  const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return [
    ...range(MOST_WRITES).map((n): Point => ({ at: "write", n })),
    ...STEPS.flatMap((_, index): Point[] =>
      (["headers", ...range(MOST_EVENTS)] as const).map((n) => ({ at: "event", step: index + 1, n })),
    ),
    ...CALLS.filter((id) => id !== "c2_search").map((id): Point => ({ at: "tool", call: id })),
  ];
}

export function pointText(point: Point): string {
  switch (point.at) {
    case "write":
      return `after the object's write ${point.n}`;
    case "event":
      return point.n === "headers"
        ? `step ${point.step}: the request is out`
        : `step ${point.step}: after event ${point.n} of the answer`;
    case "tool":
      return `while call ${point.call} runs, its effect done`;
  }
}

/** The step that a request asks for, and its answer. */
export function stepOf({ bodyText }: AnswerRequest): { step: number; parts: readonly Part[] } {
  const step = 1 + STEPS.filter((parts) => parts.some((part) => isCall(part) && bodyText.includes(part.id))).length;
  return { step, parts: STEPS[step - 1] ?? [] };
}

function isCall(part: Part): part is Part & { readonly kind: "call"; readonly id: string } {
  return "kind" in part && part.kind === "call";
}
