import { SUMMARY_REQUEST } from "../../src/context/compaction.ts";
import { type AnswerOf, call, type SharedPart, say, think } from "../../test/emulators/common/answer.ts";
import { LATE_SPEC, LAZY_SPECS } from "./catalog.ts";

/** One user message, and the tool that the model wants for it. */
export interface ScriptedTurn {
  readonly text: string;
  readonly wants: string | null;
}

const SIX = [
  "calendar_search",
  "tickets_create",
  "invoices_get",
  "deploy_list",
  "crm_search",
  "travel_create",
] as const;
const [A, B, C, D, E, F] = SIX;

/** The tool a turn wants, in order. Six come up for the first time and are loaded then; one came late, between turns. */
const WANTS: readonly (string | null)[] = [
  ...[null, A, A, B, null, B, C, A, null, D, D, C],
  ...[LATE_SPEC.name, LATE_SPEC.name, null, E, A, E, F, null, B, F, LATE_SPEC.name, null],
];

/** From this turn on (from 1) the late tool is there. */
export const LATE_FROM = 13;

/** 24 turns. */
export const TURNS: readonly ScriptedTurn[] = WANTS.map((wants, index) => ({
  wants,
  text:
    `Request ${index + 1}: please look into matter ${1000 + index * 37}, which came up in yesterday's meeting with the ` +
    `people from the harbour office. Be brief, and tell me who has to be asked before anything is changed.`,
}));

const WANTED = new Map(TURNS.map(({ text, wants }) => [text, wants]));

/** About 600 tokens. */
export const SUMMARY = [
  "The user looked into a row of matters that came up in a meeting with the people from the harbour office, each time asking",
  "who has to be asked before anything is changed. ",
  ...TURNS.map(
    ({ wants }, index) => `Matter ${1000 + index * 37}: open, looked into with ${wants ?? "no tool"}; ask Ann.`,
  ),
  "Open: whether to write to Ann and Cleo now. Nothing has been changed yet.",
].join(" ");

/** What the model of the scenario looks at, whosever API it is asked by. */
export interface Asked {
  readonly lastUserText: string;
  readonly visible: readonly string[];
  /** The names of the tools whose results came last. */
  readonly results: readonly string[];
  readonly thinks: boolean;
}

/**
 * The model of the scenario: calls the tool a turn wants if it sees it, else searches for it first; with its result, or
 * where it wants nothing, it answers. With thinking asked for, it thinks before it calls and before it answers.
 */
export function answerTo({ lastUserText, visible, results, thinks }: Asked): AnswerOf<SharedPart> {
  if (lastUserText.endsWith(SUMMARY_REQUEST)) return say(SUMMARY);
  const wants = WANTED.get(lastUserText) ?? null;
  const thought = thinks ? [think(`The user asks: ${lastUserText} What that takes is ${wants ?? "an answer"}.`)] : [];
  if (wants === null || results.includes(wants)) return [...thought, say(lookedInto(lastUserText))];
  if (visible.includes(wants)) return [...thought, call(wants, inputOf(wants))];
  if (!visible.includes("tool_search") || results.includes("tool_search")) {
    return [...thought, say("I have no tool for that.")];
  }
  return [...thought, call("tool_search", { query: wants })];
}

/** An input that fits the tool's schema: what it requires. */
function inputOf(name: string): object {
  if (name === LATE_SPEC.name) return { article: "4711-B", warehouse: "harbour" };
  const schema: Schema = { ...LAZY_SPECS.find((spec) => spec.name === name)?.inputSchema };
  const { required = [], properties = {} } = schema;
  const value = (field: string) => (properties[field]?.type === "array" ? ["harbour office"] : `What ${name} is for`);
  return { ...Object.fromEntries(required.map((field) => [field, value(field)])), page_size: 6 };
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly type: string }>>;
}

/** About 150 tokens. */
function lookedInto(text: string): string {
  return (
    `I looked into it. ${text.slice(0, 60)} … The matter is open, two entries wait for an answer, and nothing has been ` +
    "changed yet. Before anything is changed, Ann has to be asked, since she owns the entry, and Cleo has to be told, " +
    "since hers refers to it. The oldest entry is from the first of November; the others followed on the next days. If " +
    "you want, I write to both of them now, with the identifiers and a short summary of what was said in the meeting, " +
    "and come back to you as soon as one of them has answered. I would leave the closed entry as it is."
  );
}
