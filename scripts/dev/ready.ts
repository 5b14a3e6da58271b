import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Whether something listens on the port already. Without this look, its answer would pass for ours. */
export async function isTaken(port: number): Promise<boolean> {
  const answers = await Promise.all(["127.0.0.1", "::1"].map((host) => accepts(host, port)));
  return answers.includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (taken: boolean) => {
      socket.destroy();
      resolve(taken);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}

/** A port of 127.0.0.1 that nobody listens on right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Resolves when the worker answers on `/healthz`, rejects when the signal aborts. */
export async function answered(origin: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const isUp = await fetch(`${origin}/healthz`, { signal }).then(
      (response) => response.ok,
      () => false, // Nobody listens yet: asking again is all there is to do.
    );
    if (isUp) return;
    await delay(100, undefined, { signal });
  }
}

/** The first agent's name, which OpenAI clients call a model. A worker that lists none gets the usual one. */
export async function firstAgent(origin: string): Promise<string> {
  const response = await fetch(`${origin}/v1/models`);
  const body: { data?: { id?: string }[] } = response.ok ? await response.json() : {};
  return body.data?.[0]?.id ?? "assistant";
}
