import { readFileSync } from "node:fs";

/** Process ids of the workerd processes that this process started, so far; none where there is no `/proc`. */
export function workerdProcesses(): Set<number> {
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // Not Linux, or the process ended in this very moment.
      return "";
    }
  };
  const children = read(`/proc/self/task/${process.pid}/children`).split(" ").filter(Boolean);
  return new Set(children.filter((pid) => read(`/proc/${pid}/comm`).startsWith("workerd")).map(Number));
}

/** Processor time of a process so far, in ms; NaN where it can't be read. The clock ticks every 10 ms. */
export function cpuTime(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
