import { afterAll, beforeAll, expect, test } from "vitest";
import { compact as apiCompaction, call, say, stop } from "../emulators/anthropic/index.ts";
import { declared, expectAllExtend, type Stage, startStage, verdicts } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const WORDS = "word ".repeat(400);
const compact = (id: string, who?: "ann" | "bob") => stage.send("POST", `/api/sessions/${id}/compact`, who);

test("a conversation that is compacted goes on from its summary, from a rebuilt object too, and its second request reads what its first wrote", async () => {
  const id = "compacted";
  stage.model.script(
    call("tool_search", { query: "weather" }),
    say("Loaded."),
    say("Two."),
    say("They loaded weather."),
  );
  await stage.say(id, `load ${WORDS}`);
  await stage.say(id, "second");
  const done = await compact(id);
  expect(done.body).toEqual({ id, compacted: true });
  const before = stage.takeRequests();
  expectAllExtend(before);
  expect((await stage.object(id, "query", "SELECT deferrals FROM session"))[0].deferrals).toBeNull();

  await stage.object(id, "flushed");
  await stage.workerd.wipeObjects();
  stage.model.script(say("Three."), say("Four."));
  const third = await stage.say(id, "third");
  expect(third.headers.get("x-holdfast-prefix")).toBe("break; cause=compaction");
  await stage.say(id, "fourth");
  const [first, second] = stage.takeRequests();
  expectAllExtend([first, second].flatMap((one) => one ?? []));
  expect(first?.bodyText).toContain("They loaded weather.");
  expect(first?.bodyText).not.toContain("load word");
  // The search was left out, and what a summary says loads nothing.
  expect([...declared(first).inline, ...declared(first).deferred]).not.toContain("weather");
  expect(second?.usage?.cache_read_input_tokens).toBe(
    (first?.usage?.cache_read_input_tokens ?? 0) + (first?.usage?.cache_creation_input_tokens ?? 0),
  );
  expect(await verdicts(stage, id)).toEqual([
    ...["first", "extends", "extends", "extends"],
    ...["break; cause=compaction", "extends"],
  ]);
  const { entries } = (await stage.get(`/api/sessions/${id}/entries`)).body;
  expect(entries[0].content[0].text).toContain("load word");
  expect(entries.find(({ kind }: { kind: string }) => kind === "compaction")).toMatchObject({
    summary: "They loaded weather.",
    why: "asked",
  });
});

test("an edit of a message that a compaction left out takes the compaction back", async () => {
  const id = "edited";
  stage.model.script(say("One."), say("Two."), say("Three."), say("Summary."), say("Other."));
  const said = [
    ...[
      { role: "user", content: `first ${WORDS}` },
      { role: "assistant", content: "One." },
    ],
    ...[
      { role: "user", content: `second ${WORDS}` },
      { role: "assistant", content: "Two." },
    ],
  ];
  await stage.say(id, `first ${WORDS}`);
  await stage.say(id, `second ${WORDS}`, { history: said.slice(0, 2) });
  await stage.say(id, "third", { history: said });
  expect((await compact(id)).body.compacted).toBe(true);
  stage.takeRequests();
  expect((await stage.say(id, "second, reworded", { history: said.slice(0, 2) })).text).toBe("Other.");
  const [request] = stage.takeRequests();
  expect(request?.bodyText).toContain("first word");
  expect(request?.bodyText).not.toContain("Summary.");
  expect(request?.bodyText).not.toContain("second word");
});

test("a message that a compaction was made for is edited, regenerated and forked from behind it", async () => {
  await stage.workerd.fresh({ COMPACTION: '{"threshold":0.004}' });
  const id = "made-for-it";
  const first = { role: "user", content: `first ${WORDS.repeat(20)}` };
  const said = [first, { role: "assistant", content: "One." }];
  stage.model.script(say("One."), say("Summary."), say("Two."));
  await stage.say(id, first.content);
  stage.takeRequests();
  expect((await stage.say(id, "second", { history: said })).text).toBe("Two.");
  const [, two] = stage.takeRequests();
  expect(two?.bodyText).toContain("Summary.");

  stage.model.script(say("Two again."), say("Other."), say("Forked."));
  expect((await stage.say(id, "second", { history: said })).text).toBe("Two again.");
  expect((await stage.say(id, "reworded", { history: said })).text).toBe("Other.");
  const [again, other] = stage.takeRequests();
  expectAllExtend([two, again].flatMap((one) => one ?? []));
  const { id: fork } = (await stage.send("POST", `/api/sessions/${id}/fork`, "ann", '{"at":1}')).body;
  await stage.say(fork, "third");
  const [forked] = stage.takeRequests();
  for (const request of [other, forked]) {
    expect(request?.bodyText).toContain("Summary.");
    expect(request?.bodyText).not.toContain("first word");
    expect(request?.bodyText).not.toContain("second");
  }
  expect(await verdicts(stage, id)).not.toContain("break; cause=unexpected");
  await stage.workerd.fresh();
});

test("what can't be compacted says so: no such session, another's, one whose turn runs", async () => {
  expect((await compact("nobody")).status).toBe(404);
  stage.model.script(say("One."));
  await stage.say("mine", "hello");
  expect((await compact("mine", "bob")).status).toBe(404);

  const parking = stage.model.park(() => true, "headers");
  stage.model.script(say("Two."));
  const running = stage.say("mine", "and now");
  await parking.parked;
  const refused = await compact("mine");
  expect([refused.status, refused.error?.code]).toEqual([409, "conflict"]);
  parking.release();
  expect((await running).text).toBe("Two.");
  stage.takeRequests();
});

test("where the agent leaves it to the provider, the API's own block is stored, sent back first, and resets as any compaction", async () => {
  const provider = { MODEL: "anthropic/claude-opus-5-5", COMPACTION: '{"by":"provider"}' };
  await stage.workerd.fresh(provider);
  const id = "provider";
  stage.model.script(call("tool_search", { query: "weather" }), say("Loaded."));
  await stage.say(id, `load ${WORDS}`);
  const asked = stage.takeRequests();
  const [edit] = JSON.parse(asked[0]?.bodyText ?? "{}").context_management.edits;
  expect(edit).toEqual({
    ...{ type: "compact_20260112", trigger: { type: "input_tokens", value: 800_000 } },
    pause_after_compaction: true,
  });
  stage.model.script([apiCompaction("They loaded weather."), stop("compaction")], say("Two."));
  expect((await stage.say(id, "second")).text).toBe("Two.");
  const [paused, first] = stage.takeRequests();
  expectAllExtend([...asked, paused].flatMap((one) => one ?? []));
  const { messages } = JSON.parse(first?.bodyText ?? "{}");
  expect(messages[0].content[0]).toMatchObject({ type: "compaction", content: "They loaded weather." });
  expect(JSON.stringify(messages)).toContain("second");
  expect([...declared(first).inline, ...declared(first).deferred]).not.toContain("weather");

  await stage.object(id, "flushed");
  await stage.workerd.wipeObjects(provider);
  stage.model.script(say("Three."));
  await stage.say(id, "third");
  expectAllExtend([first, ...stage.takeRequests()].flatMap((one) => one ?? []));
  expect(await verdicts(stage, id)).toEqual(["first", "extends", "extends", "break; cause=compaction", "extends"]);
});
