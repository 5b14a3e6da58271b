import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { expectCopied } from "../session/copy.ts";
import { expectAllExtend, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

/** Workers of earlier releases, as `scripts/release-fixture.ts` keeps them. */
const folder = resolve(import.meta.dirname, "../fixtures");
const releases = readdirSync(folder)
  .filter((name) => name.endsWith(".js.gz"))
  .map((name) => [name, gunzipSync(readFileSync(join(folder, name))).toString()] as const);

let stage: Stage;
let hook: Hook;
beforeAll(async () => {
  hook = await startHook();
  // A lost turn waits for the message that takes it over: no race with a runner.
  const options = { entry: "test/e2e/no-runner.ts", clones: 1 };
  stage = await startStage({ HOOK: hook.url, HOLDFAST_LEASE_SECONDS: "1" }, options);
});
afterAll(async () => {
  await stage?.close();
  await hook?.close();
});

/** The isolate that has the objects, and the one that only asks them. */
const HOST = 0;
const OTHER = 1;

/** A turn that loads a tool, one that uses it beside a failing call, one that is plain. Answers their requests. */
async function threeTurns(conversation: string, isolate: number): Promise<RecordedRequest[]> {
  stage.model.script(
    ...[call("tool_search", { query: "weather" }), say("Loaded.")],
    ...[[call("weather"), call("fail")], say("Used.")],
    say("Nothing more."),
  );
  for (const [text, answer] of [
    ["load weather", "Loaded."],
    ["use it", "Used."],
    ["thanks", "Nothing more."],
  ] as const) {
    const reply = await stage.say(conversation, text, { isolate });
    expect(reply.error).toBeNull();
    expect(reply.text).toBe(answer);
  }
  return stage.takeRequests();
}

async function goesOn(conversation: string, isolate: number): Promise<RecordedRequest[]> {
  stage.model.script(call("weather"), call("tool_search", { query: "convert" }), say("On and on."));
  const reply = await stage.say(conversation, `go on in ${isolate}`, { isolate });
  expect(reply.headers.get("x-holdfast-prefix")).toBe("extends");
  expect(reply.text).toBe("On and on.");
  return stage.takeRequests();
}

describe.each(releases)("between this release and %s", (_, old) => {
  test("the older worker runs turns on the newer object, and the newer one goes on with them", async () => {
    await stage.workerd.fresh({}, { clones: old });
    const requests = await threeTurns("older-worker", OTHER);
    requests.push(...(await goesOn("older-worker", HOST)), ...(await goesOn("older-worker", OTHER)));
    expectAllExtend(requests);
    await expectEqual("older-worker");
  });

  test("the newer worker runs turns on the older object, whose storage this release opens and goes on with", async () => {
    await stage.workerd.fresh({}, { host: old });
    const requests = await threeTurns("older-object", OTHER);
    requests.push(...(await goesOn("older-object", HOST)), ...(await goesOn("older-object", OTHER)));
    await stage.object("older-object", "flushed");
    await stage.workerd.fresh({}, {});
    requests.push(...(await goesOn("older-object", HOST)));
    expectAllExtend(requests);
    await expectEqual("older-object");
  });

  test("a turn that the older worker began is taken over by the newer one, with the calls that it left", async () => {
    await stage.workerd.fresh({}, { clones: old });
    stage.model.script([call("clock"), call("wait")], say("Done."));
    const lost = stage.say("taken-over", "wait for it", { isolate: OTHER }).catch(() => null);
    const first = await hook.next();
    await stage.workerd.fresh({}, {});
    await lost;
    const again = stage.say("taken-over", "wait for it");
    const second = await hook.next();
    expect(second.id).toBe(first.id);
    second.answer("It came.");
    expect((await again).text).toBe("Done.");
    expectAllExtend(stage.takeRequests());
    await expectEqual("taken-over");
  });
});

async function expectEqual(conversation: string): Promise<void> {
  await stage.object(conversation, "flushed");
  const id = { owner: "ann", agent: "tester", conversation };
  await expectCopied(await stage.workerd.d1(), id, (statement) => stage.object(conversation, "query", statement));
}
