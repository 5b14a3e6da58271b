import { SUMMARY_REQUEST } from "../../context/compaction.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import type { View } from "./view.ts";
import { readWish, type Wish } from "./wishes.ts";

/** What the scripted model answers: some text, and at most one call. */
export interface Reply {
  readonly text: string;
  readonly call: { readonly name: string; readonly input: object } | null;
}

const WHO = "I am Holdfast's demo model. I follow a script and know only a few requests.";
const TRY =
  "Try “What time is it in Tokyo?”, “Convert 5 miles to km”, “Roman numeral of 2026”, “Hash 'abc' with SHA-256” or " +
  '“Call some_tool with {"field": "value"}”. Set ANTHROPIC_API_KEY to talk to a real model.';

/** Decides on the next answer from what the request holds, and from nothing else. */
export function nextReply(view: View): Reply {
  if (view.question === SUMMARY_REQUEST) return say(summary(view));
  const wish = readWish(view.question);
  if (wish === null) return say(smallTalk(view));
  const done = view.answers.findLast((answer) => answer.name === wish.tool);
  if (done !== undefined) return say(report(wish, done.ok, done.text));
  if (view.visible.has(wish.tool)) return { text: "", call: { name: wish.tool, input: wish.input } };
  const search = view.answers.findLast((answer) => answer.name === SEARCH_TOOL);
  if (search !== undefined)
    return say(`I searched for the tool ${wish.tool} and can't call it. ${search.text} (Demo model.)`);
  if (!view.visible.has(SEARCH_TOOL))
    return say(`For that I would need the tool ${wish.tool}, and I don't have it. ${WHO}`);
  return { text: "Let me look for a tool.", call: { name: SEARCH_TOOL, input: { query: wish.query } } };
}

function summary({ messages, before }: View): string {
  const asked = messages - 1;
  return `The user wrote ${asked} message${asked === 1 ? "" : "s"}${before === null ? "" : `, the last one “${before}”`}. (Demo model.)`;
}

function smallTalk({ question, before, messages }: View): string {
  if (/\bwhat did i\b|\bdo you remember\b|\bmy (last|previous) message\b/i.test(question)) {
    return before === null
      ? `This is your first message. ${WHO}`
      : `Before that you wrote: “${before}”. This is message ${messages} of our conversation. ${WHO}`;
  }
  return `${/\b(hello|hi|hey)\b/i.test(question) ? "Hello! " : ""}${WHO} ${TRY}`;
}

function report(wish: Wish, ok: boolean, text: string): string {
  return `${ok ? `The tool ${wish.tool} answers: ${text}` : `The tool ${wish.tool} did not do it: ${text}`} (Demo model.)`;
}

function say(text: string): Reply {
  return { text, call: null };
}
