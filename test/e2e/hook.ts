import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

/** A tool call that has arrived at the hook and waits there. */
export interface HookCall {
  readonly tool: string;
  readonly id: string;
  /** Lets the tool go on with this text as its result. */
  answer(text: string): void;
  /** Resolves when the tool was answered or has left. */
  readonly over: Promise<"answered" | "left">;
}

/** Where the test worker's tools `wait` and `once` tell that they run, and wait to be let go: its binding `HOOK`. */
export interface Hook {
  readonly url: string;
  /** The next call that was not taken yet. */
  next(): Promise<HookCall>;
  /** Calls that wait right now. */
  readonly running: number;
  /** The most that ever waited at once. */
  readonly peak: number;
  close(): Promise<void>;
}

export async function startHook(): Promise<Hook> {
  const arrived: HookCall[] = [];
  const takers: ((call: HookCall) => void)[] = [];
  let running = 0;
  let peak = 0;
  const server = createServer((request, response) => {
    running += 1;
    peak = Math.max(peak, running);
    const [, tool = "", id = ""] = (request.url ?? "").split("/");
    const call = { tool, id, answer: (text: string) => void response.end(text), over: overOf(response) };
    call.over.finally(() => {
      running -= 1;
    });
    const taker = takers.shift();
    if (taker === undefined) arrived.push(call);
    else taker(call);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    next: async () => arrived.shift() ?? new Promise((resolve) => takers.push(resolve)),
    get running() {
      return running;
    },
    get peak() {
      return peak;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function overOf(response: ServerResponse): Promise<"answered" | "left"> {
  await once(response, "close");
  return response.writableFinished ? "answered" : "left";
}
