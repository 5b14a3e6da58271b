import { once } from "node:events";
import { createServer } from "node:http";

/** What the ring's worker asks or tells, by the first segment of the path; each gets the segments behind it. */
export type RingQuestions = Readonly<Record<string, (...of: string[]) => Promise<string>>>;

/** The server behind the ring worker's binding `HOOK`. A question that is never answered holds the isolate there. */
export async function startRingHook(questions: RingQuestions): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [, kind = "", ...of] = (request.url ?? "").split("/").map(decodeURIComponent);
    const answered = questions[kind]?.(...of) ?? Promise.reject(new Error(`nobody asks for ${kind}`));
    answered.then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
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
