import { once } from "node:events";
import { createServer } from "node:http";

/** Something the worker did and waits to go on from. */
export type Done =
  | { readonly kind: "write"; readonly session: string; readonly n: number }
  | { readonly kind: "tool"; readonly session: string; readonly call: string };

export interface KillHook {
  readonly url: string;
  /** How often each tool call had its effect, as `session/call`. */
  readonly effects: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Where the worker of the kill suite tells what it did. `go` resolves when it may go on; a promise that never does holds it. */
export async function startKillHook(go: (done: Done) => Promise<void>): Promise<KillHook> {
  const effects = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const [, kind, session = "", what = ""] = (request.url ?? "").split("/");
    if (kind === "tool") effects.set(`${session}/${what}`, (effects.get(`${session}/${what}`) ?? 0) + 1);
    await go(kind === "tool" ? { kind, session, call: what } : { kind: "write", session, n: Number(what) });
    response.end(`done ${what}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    effects,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
