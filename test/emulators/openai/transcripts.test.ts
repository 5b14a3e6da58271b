import { expect, test } from "vitest";
import * as e from "./index.ts";
import { brief, clientParams, events, whole } from "./official-client.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator();

test("O-1: a text is one message, in fragments, and its events are numbered from 0", async () => {
  const { seen, thrown } = await events(emulator(), e.say("Hello there"));
  expect(thrown).toBeUndefined();
  expect(brief(seen)).toEqual([
    "created",
    "in_progress",
    "added 0 message",
    "content_part.added",
    "Hel",
    "lo",
    " there",
    "output_text.done",
    "content_part.done",
    "done 0 message",
    "completed",
  ]);
  expect(seen.map((event) => ("sequence_number" in event ? event.sequence_number : -1))).toEqual([...seen.keys()]);
  expect(seen[2]).toMatchObject({ item: { status: "in_progress", content: [], phase: "final_answer" } });
  expect(seen.at(-1)).toMatchObject({
    response: {
      status: "completed",
      output: [{ status: "completed", content: [{ type: "output_text", text: "Hello there", annotations: [] }] }],
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    },
  });
});

test("O-2: a call has its name and call_id from the start, and its arguments as a string in pieces", async () => {
  const { seen } = await events(emulator(), e.call("look", { a: 1 }, "call_1"));
  expect(brief(seen)).toEqual([
    "created",
    "in_progress",
    "added 0 function_call",
    '{"a"',
    ":1}",
    "function_call_arguments.done",
    "done 0 function_call",
    "completed",
  ]);
  expect(seen[2]).toMatchObject({ item: { name: "look", call_id: "call_1", arguments: "", status: "in_progress" } });
  expect(seen[2]).not.toMatchObject({ item: { namespace: expect.anything() } });
  expect(seen[6]).toMatchObject({ item: { arguments: '{"a":1}', status: "completed" } });
});

test("a compaction comes at once, behind an event that it is being made", async () => {
  const input = [s.user("Hello"), { type: "compaction_trigger" }];
  emulator().script(e.compact());
  const text = await (await s.post(emulator(), s.request({ stream: true, input }))).text();
  expect([...text.matchAll(/^event: response\.(.*)$/gm)].map(([, type]) => type)).toEqual([
    ...["created", "in_progress", "output_item.added", "compaction.compacting", "output_item.done", "completed"],
  ]);
});

test("O-3: parallel calls come one after the other with ids of their own", async () => {
  const { seen } = await events(emulator(), [e.call("look", { n: 1 }), e.call("look", { n: 2 })]);
  expect(brief(seen).filter((word) => /^(added|done) /.test(word))).toEqual([
    "added 0 function_call",
    "done 0 function_call",
    "added 1 function_call",
    "done 1 function_call",
  ]);
  const { output } = await whole(emulator(), [e.call("look", { n: 1 }), e.call("look", { n: 2 })]);
  expect(new Set(output.map((item) => (item.type === "function_call" ? item.call_id : ""))).size).toBe(2);
});

test("O-4: a text before a call is commentary", async () => {
  const { output } = await whole(emulator(), [e.say("Let me look."), e.call("look", '{"where":"naïve 🙂"}')]);
  expect(output).toMatchObject([
    { type: "message", phase: "commentary", content: [{ text: "Let me look." }] },
    { type: "function_call", name: "look", arguments: '{"where":"naïve 🙂"}' },
  ]);
});

test("O-5: a refusal is a part of a message, in a response that is completed", async () => {
  const { seen } = await events(emulator(), e.refuse("No."));
  expect(brief(seen).slice(2)).toEqual([
    "added 0 message",
    "content_part.added",
    "No.",
    "refusal.done",
    "content_part.done",
    "done 0 message",
    "completed",
  ]);
  expect(seen.at(-1)).toMatchObject({ response: { output: [{ content: [{ type: "refusal", refusal: "No." }] }] } });
});

test("O-5: a content filter leaves the response incomplete", async () => {
  const { seen } = await events(emulator(), [e.say("Once upon"), e.filtered()]);
  expect(seen.at(-1)).toMatchObject({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
  });
});

test("O-6: an answer is cut in mid-word", async () => {
  const { seen } = await events(emulator(), e.cut("A long sto"));
  expect(seen.at(-1)).toMatchObject({
    type: "response.incomplete",
    response: {
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete", content: [{ text: "A long sto" }] }],
    },
  });
});

test("O-6: a call is cut in its JSON", async () => {
  const { seen } = await events(emulator(), e.cut(e.call("look", '{"a":"b')));
  expect(seen.at(-1)).toMatchObject({
    type: "response.incomplete",
    response: { output: [{ type: "function_call", status: "incomplete", arguments: '{"a":"b' }] },
  });
});

test("O-9: bad JSON arguments pass as they are", async () => {
  const { seen, thrown } = await events(emulator(), e.call("look", '{"a": tru'));
  expect(thrown).toBeUndefined();
  expect(seen.at(-1)).toMatchObject({ type: "response.completed", response: { output: [{ arguments: '{"a": tru' }] } });
});

test("O-10: a server's search has its output in the answer, and what it found is called in a namespace", async () => {
  const { seen } = await events(emulator(), [e.search(["later"], ["later"]), e.call("later", {})]);
  expect(brief(seen).slice(2)).toEqual([
    "added 0 tool_search_call",
    "done 0 tool_search_call",
    "added 1 tool_search_output",
    "done 1 tool_search_output",
    "added 2 function_call",
    "{}",
    "function_call_arguments.done",
    "done 2 function_call",
    "completed",
  ]);
  expect(seen[2]).toMatchObject({ item: { execution: "server", call_id: null, arguments: {} } });
  expect(seen[3]).toMatchObject({ item: { arguments: { paths: ["later"] } } });
  expect(seen[5]).toMatchObject({ item: { tools: [{ name: "later", defer_loading: true }] } });
  expect(seen[6]).toMatchObject({ item: { name: "later", namespace: "later" } });
});

test("O-11: a client's search ends the answer after five events", async () => {
  const { seen } = await events(emulator(), e.call("tool_search", { queries: ["x"] }, "call_1"), clientParams);
  expect(brief(seen)).toEqual([
    "created",
    "in_progress",
    "added 0 tool_search_call",
    "done 0 tool_search_call",
    "completed",
  ]);
  expect(seen[2]).toMatchObject({ item: { execution: "client", call_id: "call_1", arguments: {} } });
  expect(seen[3]).toMatchObject({ item: { arguments: { queries: ["x"] }, status: "completed" } });
});

test("O-12: reasoning comes before the message, encrypted where it is asked for", async () => {
  const { seen } = await events(emulator(), [e.think("Hmm"), e.say("Yes")]);
  expect(brief(seen).slice(2, 5)).toEqual(["added 0 reasoning", "done 0 reasoning", "added 1 message"]);
  expect(seen[2]).toMatchObject({ item: { summary: [] } });
  expect(seen[3]).toMatchObject({ item: { encrypted_content: expect.stringMatching(/^gAAAA/) } });
  const { output } = await whole(emulator(), [e.think("Hmm"), e.say("Yes")], { ...clientParams, include: [] });
  expect(output[0]).not.toHaveProperty("encrypted_content");
});
