import { callsOf } from "../../src/context/effective.ts";
import type { CallBlock, ToolResult } from "../../src/values/entry.ts";
import { entriesOf, type Place } from "./place.ts";
import { taskIn } from "./task.ts";
import type { World } from "./world.ts";

/**
 * Each call of a session has one result, in the order of the calls, but for those that nobody could answer yet; and what a
 * task's result says is what its own sub-session said last. Throws where that is not so.
 */
export async function checkBatches(world: World, place: Place): Promise<void> {
  const { findings } = world;
  const entries = await entriesOf(place);
  const newest = entries.findLast(({ entry }) => entry.kind === "assistant")?.seq;
  for (const { seq, entry } of entries) {
    if (entry.kind !== "assistant" || callsOf(entry).length === 0) continue;
    const results = entries.flatMap(({ entry }) =>
      entry.kind === "results" && entry.of === seq ? [entry.results] : [],
    );
    if (results.length === 0 && seq === newest) continue;
    const ids = callsOf(entry).map(({ id }) => id);
    const of = results.map((one) => one.map(({ call }) => call));
    if (JSON.stringify(of) !== JSON.stringify([ids])) throw findings.broken(`the calls ${ids} have the results ${of}`);
    for (const call of callsOf(entry))
      checkTask(
        world,
        call,
        results[0]?.find((one) => one.call === call.id),
      );
  }
}

function checkTask(world: World, { name, input }: CallBlock, result: ToolResult | undefined): void {
  if (name !== "transfer_task" || result?.status !== "ok") return;
  const task = taskIn(world, input);
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const where = result.session?.conversation;
  if (text === task.said && where === task.place?.id.conversation) return;
  throw world.findings.broken(`task ${task.n} said ${JSON.stringify(text)} in ${where}`);
}
