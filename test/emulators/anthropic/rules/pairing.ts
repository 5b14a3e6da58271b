import { type Placed, placedBlocks } from "../content.ts";
import { type Failure, invalid } from "../failure.ts";
import type { Message } from "../schema/request.ts";
import type { Rule } from "./rule.ts";

/** Messages of one role that follow each other, which the API reads as one. System messages stand outside. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: Placed[];
}

/** E-A17: consecutive messages of one role are merged before calls and results are paired. */
function mergedTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const placed of placedBlocks(messages)) {
    if (placed.role === "system") continue;
    const last = turns.at(-1);
    if (last?.role === placed.role) last.blocks.push(placed);
    else turns.push({ role: placed.role, blocks: [placed] });
  }
  return turns;
}

/** E-A19, E-A20, E-A21: every call is answered once, at the start of the next user message, and nothing else is. */
export const callsAndResults: Rule = ({ body }) => {
  const turns = mergedTurns(body.messages);
  for (const [index, turn] of turns.entries()) {
    const failure =
      turn.role === "assistant" ? checkCalls(turn, turns[index + 1]) : checkResults(turn, turns[index - 1]);
    if (failure !== null) return failure;
  }
  return null;
};

function checkCalls(turn: Turn, next: Turn | undefined): Failure | null {
  const calls = turn.blocks.filter((placed) => placed.block.type === "tool_use");
  const seen = new Set<string>();
  for (const { block, message, path } of calls) {
    if (block.type !== "tool_use") continue;
    const key = `${message} ${block.id}`;
    if (seen.has(key)) return invalid("E-A20", `${path}: \`tool_use\` ids must be unique`);
    seen.add(key);
  }
  const answered = new Set(leadingResults(next));
  const missing = calls.filter(({ block }) => block.type === "tool_use" && !answered.has(block.id));
  const first = missing[0];
  if (first === undefined) return null;
  const ids = missing.map(({ block }) => ("id" in block ? block.id : "")).join(", ");
  return invalid(
    "E-A19",
    `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** The ids answered before the first block of a user turn that is not a result. */
function leadingResults(turn: Turn | undefined): string[] {
  const ids: string[] = [];
  for (const { block } of turn?.blocks ?? []) {
    if (block.type !== "tool_result") break;
    ids.push(block.tool_use_id);
  }
  return ids;
}

function checkResults(turn: Turn, previous: Turn | undefined): Failure | null {
  const called = new Set((previous?.blocks ?? []).map(({ block }) => (block.type === "tool_use" ? block.id : "")));
  const seen = new Set<string>();
  for (const { block, path } of turn.blocks) {
    if (block.type !== "tool_result") continue;
    const id = block.tool_use_id;
    if (!called.has(id)) {
      return invalid(
        id.startsWith("srvtoolu_") ? "E-A21" : "E-A20",
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id)) {
      return invalid(
        "E-A20",
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    seen.add(id);
  }
  return null;
}

/** E-A22: a server's call has its result in the same message, unless the turn was paused or its code waits for a tool. */
export const serverCallsHaveResults: Rule = ({ body }) => {
  for (const turn of mergedTurns(body.messages)) {
    const answered = new Set(turn.blocks.map(({ block }) => ("tool_use_id" in block ? block.tool_use_id : "")));
    const waiting = new Set(turn.blocks.map(({ block }) => ("caller" in block ? block.caller?.tool_id : undefined)));
    const settled = turn.blocks.findLastIndex(({ block }) => block.type !== "server_tool_use");
    for (const [index, { block, message }] of turn.blocks.entries()) {
      if (block.type !== "server_tool_use" || answered.has(block.id) || waiting.has(block.id)) continue;
      if (message === body.messages.length - 1 && index > settled) continue;
      return invalid(
        "E-A22",
        `messages.${message}: \`${block.name}\` tool use with id \`${block.id}\` was found without a corresponding \`${block.name}_tool_result\` block`,
      );
    }
  }
  return null;
};
