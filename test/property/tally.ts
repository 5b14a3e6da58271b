import type { Entry } from "../../src/values/entry.ts";
import { entriesOf } from "./place.ts";
import type { World } from "./world.ts";

/** Adds what the sessions stored to what came up, for the ring's statistics. */
export async function tally({ findings, history, places }: World): Promise<void> {
  if (history.thinking) findings.seen.add("thinking");
  const entries = (await Promise.all(places.map(entriesOf))).flat();
  for (const { entry } of entries) for (const kind of kindsOf(entry)) findings.seen.add(kind);
}

function kindsOf(entry: Entry): string[] {
  switch (entry.kind) {
    case "mode_change":
      return entry.origin === "runtime" ? [`switch to ${entry.mode}`] : [];
    case "pause":
      return ["pause"];
    case "host_search":
      return [`host search ${entry.place.at}`];
    case "system_update":
      if (entry.origin !== "runtime") return [];
      return [entry.withdraws ? "instructions withdrawn" : "instructions changed"];
    case "compaction":
      return [`compaction ${entry.why}`, ...(entry.carriedToolNames.length > 0 ? ["carried tools"] : [])];
    case "results": {
      const { results } = entry;
      const tasks = results.filter(({ name, status }) => name === "transfer_task" && status === "ok");
      return [
        ...(tasks.length > 0 ? ["sub-session"] : []),
        ...(tasks.length > 1 ? ["tasks side by side"] : []),
        ...(results.some(({ status }) => status === "denied") ? ["denied"] : []),
        ...(results.length > 10 ? ["wide batch"] : []),
        ...(results.every(({ status }) => status !== "ok") ? ["batch that failed"] : []),
      ];
    }
    default:
      return [];
  }
}
