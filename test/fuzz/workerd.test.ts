import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allStored } from "../all-stored.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { drawn } from "./drawn.ts";
import { answerOf, silence } from "./fuzz.ts";
import { SECRET } from "./fuzzed.ts";
import { hostile, type Sent } from "./request.ts";
import { SURFACES, validRequests } from "./surfaces.ts";
import { firstStored, World } from "./world.ts";

/** Requests a surface: in workerd each takes some milliseconds. */
const SAMPLE = 60;
const SEED = 2026_11_30;

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/fuzz/worker.ts", bindings: { HOLDFAST_API_KEYS: `ann:${SECRET}` } });
});
afterAll(() => workerd.dispose());

test.each(SURFACES)(
  "$name: what is refused in process is refused in workerd, and stores nothing there",
  async (surface) => {
    console.log(`${surface.name}: ${SAMPLE} requests from seed ${SEED}`);
    silence();
    const stored = await firstStored();
    const valid = validRequests(surface, new World(stored).routes, stored);
    const requests = fc.sample(drawn(valid, surface.fields), { numRuns: SAMPLE, seed: SEED }).flatMap((one) => {
      const request = valid[one.valid];
      return request === undefined ? [] : [hostile(request, one.changes, one.raw)];
    });
    const refused: Sent[] = [];
    for (const sent of requests) {
      const answer = await answerOf(sent, new World(stored).fetch(sent));
      if (answer !== null && answer.status >= 400) refused.push(sent);
    }
    expect(refused.length).toBeGreaterThan(5);
    const before = await allStored(workerd);
    for (const sent of refused) {
      const answer = await answerOf(sent, inWorkerd(sent));
      if (answer !== null) expect(answer.status, JSON.stringify(sent).slice(0, 2_000)).toBeGreaterThanOrEqual(400);
    }
    expect(await allStored(workerd)).toEqual(before);
  },
);

function inWorkerd({ method, path, headers, body }: Sent): Promise<Response> {
  const bodiless = body === null || method === "GET" || method === "HEAD";
  return workerd.fetch(path, {
    method,
    headers: { authorization: `Bearer ${SECRET}`, ...headers },
    ...(bodiless ? {} : { body: typeof body === "string" ? body : Buffer.from(body) }),
  });
}
