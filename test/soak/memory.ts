import { readdir, readFile } from "node:fs/promises";

/** What is left in workerd once the worker's garbage is collected, in MB. */
export interface Memory {
  /** Live JavaScript objects of the worker's isolate, which the sessions' objects are in, too. */
  readonly heap: number;
  /** Resident memory of the process, with D1 and what Miniflare puts around the worker. */
  readonly resident: number;
}

/** Collects the garbage of the worker by way of its debugger (`startWorkerd`'s `inspector`), and says what is left. */
export async function collected(inspector: URL): Promise<Memory> {
  const answer = await fetch(`http://${inspector.host}/json`);
  const targets: { id: string; webSocketDebuggerUrl: string }[] = await answer.json();
  const worker = targets.find(({ id }) => id.startsWith("core:user"));
  if (worker === undefined) throw new Error("no debugger can attach to the worker");
  const bytes = await liveBytes(worker.webSocketDebuggerUrl);
  return { heap: bytes / 2 ** 20, resident: await residentMegabytes() };
}

async function liveBytes(url: string): Promise<number> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: { usedSize?: number; backingStorageSize?: number }) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no debugger at ${url}`)));
  });
  const ask = (method: string) =>
    new Promise<{ usedSize?: number; backingStorageSize?: number }>((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method }));
    });
  await ask("HeapProfiler.enable");
  await ask("HeapProfiler.collectGarbage");
  const { usedSize = 0, backingStorageSize = 0 } = await ask("Runtime.getHeapUsage");
  socket.close();
  return usedSize + backingStorageSize;
}

/** Resident memory of this process's workerd children. */
async function residentMegabytes(): Promise<number> {
  let kilobytes = 0;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const parent = /^PPid:\s+(\d+)$/m.exec(status)?.[1];
    if (/^Name:\s+workerd$/m.test(status) && parent === `${process.pid}`) {
      kilobytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    }
  }
  return kilobytes / 1024;
}
