import { once } from "node:events";
import { createServer } from "node:http";

/** What the ring's worker asks before it sends a request, and while its tool `hang` runs. */
export interface RingQuestions {
  send(name: string): Promise<void>;
  hang(name: string, callId: string): Promise<string>;
}

/** The server behind the ring worker's binding `HOOK`. A question that is never answered holds the isolate there. */
export async function startRingHook(questions: RingQuestions): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [, kind, name = "", id = ""] = (request.url ?? "").split("/");
    const answered = kind === "send" ? questions.send(name).then(() => "") : questions.hang(name, id);
    answered.then((text) => response.end(text));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
