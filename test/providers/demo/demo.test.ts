import { expect, test } from "vitest";
import { lazy } from "../../../src/define/lazy.ts";
import { defineTool } from "../../../src/define/tool.ts";
import { demo } from "../../../src/providers/demo/provider.ts";
import { readWish } from "../../../src/providers/demo/wishes.ts";
import { everyday, occasional } from "../../../src/toolkit/toolkit.ts";
import { collect, DemoSession } from "./session.ts";

const made = { v: 1, origin: "runtime", at: 0, turn: "t" } as const;
const withTools = () => new DemoSession([...everyday, ...lazy(occasional)]);
const names = (session: DemoSession) => session.calls.map((call) => call.name);

test("plain talk gets a short answer that says it is a demo and what to try", async () => {
  const session = withTools();
  const text = await session.say("Hello, who are you?");
  expect(text).toMatch(/^Hello! .*demo model/);
  expect(text).toContain("Convert 5 miles to km");
  expect(session.calls).toEqual([]);
});

test("it remembers what the request holds", async () => {
  const session = withTools();
  await session.say("My cat is called Miso.");
  expect(await session.say("What did I say before?")).toContain("“My cat is called Miso.”. This is message 2");
  expect(await withTools().say("Do you remember me?")).toContain("This is your first message.");
});

test.each([
  ["What time is it in Tokyo?", "clock", "Asia/Tokyo"],
  ["What is 2 * (3 + 4)?", "calculator", "= 14"],
  ["Roll a die", "random", "numbers"],
])("a core tool is called at once: %s", async (question, tool, part) => {
  const session = withTools();
  expect(await session.say(question)).toContain(part);
  expect(names(session)).toEqual([tool]);
});

test.each([
  ["Convert 5 miles to km", "convert_units", "5 mi = 8.04672 km"],
  ["How many feet are in 2 metres?", "convert_units", "6.56167979 ft"],
  ["What is the roman numeral of 2026?", "roman_numerals", "2026 = MMXXVI"],
  ["Hash 'abc' with SHA-256", "hash_text", "ba7816bf8f01cfea"],
  ["What is the colour #ff8800 in HSL?", "convert_colour", "hsl(32, 100%, 50%)"],
  ["How many days between 2026-01-01 and 2026-03-01?", "date_difference", '"days":59'],
  ["Which date is 30 days after 2026-01-31?", "date_add", '"2026-03-02"'],
  ["255 in hex", "convert_base", "ff (base 16)"],
  ["Encode 'hi' as base64", "encode_text", "aGk="],
  ["How many words are in “one two three”?", "text_statistics", '"words":3'],
  ["Make a slug of 'Crème Brûlée'", "slugify", "creme-brulee"],
  ["Generate a UUID", "generate_uuid", "uuids"],
  ["What is the median of 3, 9 and 4?", "statistics", '"median":4'],
])("a lazy tool is searched, then called, then reported: %s", async (question, tool, part) => {
  const session = withTools();
  expect(await session.say(question)).toContain(part);
  expect(names(session)).toEqual(["tool_search", tool]);
});

test("a tool that is loaded already is called without a search", async () => {
  const session = withTools();
  await session.say("Convert 5 miles to km");
  await session.say("Convert 10 kg to pounds");
  expect(names(session)).toEqual(["tool_search", "convert_units", "convert_units"]);
});

test("a tool's failure is reported as such", async () => {
  expect(await withTools().say("Convert 5 miles to kg")).toMatch(/did not do it: .*mi is a unit of length/);
});

test("any tool can be called by name, with its input as JSON", async () => {
  const save = defineTool({
    name: "save_note",
    description: "Stores a note.",
    input: { type: "object", properties: { title: { type: "string" } } },
    execute: (input) => `Saved ${JSON.stringify(input)}`,
  });
  const session = new DemoSession(lazy(save));
  expect(await session.say('Please call save_note with {"title":"x"}')).toContain('Saved {"title":"x"}');
  expect(names(session)).toEqual(["tool_search", "save_note"]);
});

test("a tool that is nowhere is not called, and the answer says so", async () => {
  const session = new DemoSession([...everyday]);
  expect(await session.say("Convert 5 miles to km")).toContain("can't call it. Nothing found.");
  expect(names(session)).toEqual(["tool_search"]);
});

test("it can be asked to look for tools", async () => {
  expect(await withTools().say("Find me a tool for comparing two texts")).toContain("Loaded: compare_text");
});

test("every request of a session begins with the one before, and call ids do not repeat", async () => {
  const session = withTools();
  for (const question of ["Convert 5 miles to km", "Convert 5 miles to km", "Roman numeral of 4", "Hello"])
    await session.say(question);
  const ids = session.calls.map((call) => call.id);
  expect(new Set(ids).size).toBe(ids.length);
  const histories = session.bodies.map((body) => body.slice(body.indexOf('"items":'), -2));
  for (const [i, history] of histories.entries()) {
    if (i > 0) expect(history.startsWith(histories[i - 1] ?? "")).toBe(true);
  }
  const prefixes = session.bodies.map((body) => body.slice(0, body.indexOf('"deferred":')));
  expect(new Set(prefixes).size).toBe(1);
});

test("one body has one answer, in pieces of a word that make up the whole", async () => {
  const session = withTools();
  await session.say("Hello");
  const body = session.bodies[0] ?? "";
  const events = await collect(body);
  expect(await collect(body)).toEqual(events);
  const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  const blocks = events.flatMap((event) =>
    event.type === "block" && event.block.type === "text" ? [event.block.text] : [],
  );
  expect(pieces.length).toBeGreaterThan(20);
  expect(blocks).toEqual([pieces.join("")]);
  expect(events.map((event) => event.type).filter((type) => type !== "text")).toEqual([
    "begun",
    "block",
    "usage",
    "stop",
  ]);
});

test("usage is estimated by length, and no cache is claimed", async () => {
  const session = withTools();
  const text = await session.say("Hällo");
  const body = session.bodies[0] ?? "";
  const usage = (await collect(body)).find((event) => event.type === "usage");
  expect(usage).toEqual({
    type: "usage",
    usage: {
      input: Math.ceil(Buffer.byteLength(body) / 4),
      cacheRead: 0,
      cacheWrite: 0,
      output: Math.ceil(Buffer.byteLength(text) / 4),
    },
  });
});

test("an answer keeps to the number of tokens and to stop sequences", async () => {
  const session = withTools();
  await session.say("Hello");
  const body = session.bodies[0] ?? "";
  const short = await collect(body.replace('"maxOutputTokens":8000', '"maxOutputTokens":2'));
  expect(short).toContainEqual({ type: "block", block: { type: "text", text: "Hello! I" } });
  expect(short.at(-1)).toEqual({ type: "stop", stop: "length" });
  const stopped = await collect(body.replace('"stop":[]', '"stop":["demo"]'));
  expect(stopped).toContainEqual({ type: "block", block: { type: "text", text: "Hello! I am Holdfast's " } });
  expect(stopped.at(-1)).toEqual({ type: "stop", stop: "end" });
});

test("an abort ends the answer", async () => {
  const session = withTools();
  session.add({ ...made, kind: "user", content: [{ type: "text", text: "Hello" }] });
  await expect(collect(session.body(), AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

test("a model that the demo does not have is a provider's error", async () => {
  await expect(collect(withTools().body(), undefined, "large")).rejects.toMatchObject({
    failure: { reason: "provider", status: 404 },
  });
});

test("a host search loads tools without being taken for an answer, and each user message stands for itself", async () => {
  const session = withTools();
  session.add({ ...made, kind: "user", content: [{ type: "text", text: "Convert 5 miles to km" }] });
  session.add({ ...made, kind: "host_search", call: "hs_1", names: ["slugify"], place: { at: "after", seq: 1 } });
  expect(await session.say("Roman numeral of 9")).toContain("9 = IX");
  expect(names(session)).toEqual(["tool_search", "roman_numerals"]);
});

test("only a load point that the request holds makes a deferred tool visible", async () => {
  const session = withTools();
  await session.say("Convert 5 miles to km");
  const body = session.bodies.at(-1) ?? "";
  expect(body).toContain('"loads":["convert_units"]');
  const unloaded = body
    .replace('"loads":["convert_units"]', '"loads":[]')
    .replace(/,\{"role":"assistant","block":\{"type":"call","id":"[^"]*","name":"convert_units".*\]\}$/, "]}");
  const call = (await collect(unloaded)).flatMap((event) =>
    event.type === "block" && event.block.type === "call" ? [event.block] : [],
  );
  expect(call).toEqual([]);
});

test("entries of other models and kinds are rendered so that nothing is lost that a model may read", () => {
  const entry = { ...made, kind: "assistant", model: "x/y", chain: "x/y", epoch: 1, stop: "calls" } as const;
  const session = withTools();
  session.add({
    ...made,
    kind: "user",
    content: [
      { type: "text", text: "See" },
      { type: "image", source: { type: "url", url: "https://a.example/i.png" } },
    ],
  });
  session.add({
    ...entry,
    blocks: [
      { type: "thinking", text: "hm", raw: "{}" },
      { type: "opaque", raw: "{}" },
      { type: "text", text: "Yes." },
      { type: "call", id: "c1", name: "clock", input: "{not json" },
    ],
  });
  session.add({
    ...made,
    kind: "results",
    of: 2,
    results: [{ call: "c1", name: "clock", status: "error", content: [{ type: "text", text: "bad input" }] }],
  });
  session.add({ ...made, kind: "system_update", text: "Be brief." });
  session.add({ ...made, kind: "rewind", to: 9, why: "edited" });
  const body = session.body();
  expect(JSON.parse(body.slice(body.indexOf('"items":') + 8, -1))).toEqual([
    { role: "user", block: { type: "message", content: [{ type: "text", text: "See" }, { type: "image" }] } },
    { role: "assistant", block: { type: "text", text: "Yes." } },
    { role: "assistant", block: { type: "call", id: "c1", name: "clock", input: "{not json" } },
    {
      role: "user",
      block: {
        type: "result",
        call: "c1",
        name: "clock",
        status: "error",
        content: [{ type: "text", text: "bad input" }],
        loads: [],
      },
    },
    { role: "system", block: { type: "text", text: "Be brief." } },
  ]);
});

test("its facts, settings and definitions", () => {
  expect(demo.facts("scripted")).toMatchObject({
    deferral: true,
    toolChanges: true,
    bound: false,
    minCache: 512,
    thinking: "none",
  });
  expect(demo.missing(Object.create(null))).toBeNull();
  expect(demo.settings("scripted", { effort: "low" }, "key")).toBe('"model":"scripted","effort":"low"');
  expect(demo.system("  ")).toEqual([]);
  expect(demo.define({ name: "a", description: "b", inputSchema: { type: "object" } }, true, "scripted")).toEqual({
    name: "a",
    bytes: '{"name":"a","description":"b","inputSchema":{"type":"object"},"deferred":true}',
  });
});

test.each([
  "What do you think about 2026-01-01?",
  "I have 5 cats in total",
  "use state-of-the-art methods",
  "the roman empire",
  "hash browns, please",
  "call me maybe",
  "it's 2026",
  "my average day",
])("the script reads nothing into %j", (question) => {
  expect(readWish(question)).toBeNull();
});

test("a long question without sense is read in no time", () => {
  const start = performance.now();
  for (const piece of ["1 ", "(", "'", "use a", "how many "]) readWish(piece.repeat(20_000));
  expect(performance.now() - start).toBeLessThan(500);
});
