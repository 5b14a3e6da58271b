import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const called = s.assistant(s.use("toolu_1", "look"));
const searching = { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query: "x" } };
const found = {
  type: "tool_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: { type: "tool_search_tool_search_result", tool_references: [s.reference("later")] },
};
const withMessages = (...messages: s.Body[]) =>
  s.request({ tools: [s.tool("look"), s.tool("later", { defer_loading: true })], messages });
const unanswered = (ids: string) =>
  `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
const unexpected = (id: string, path: string) =>
  `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;

refusesAll(emulator, [
  { rule: "E-A15", what: "no message", body: withMessages(), message: "messages: at least one message is required" },
  {
    rule: "E-A15",
    what: "a message without content",
    body: withMessages(s.user("a"), s.assistant(), s.user("b")),
    message: "messages.1: all messages must have non-empty content except for the optional final assistant message",
  },
  {
    rule: "E-A16",
    what: "a given beginning of the answer",
    body: withMessages(s.user("a"), s.assistant("It is")),
    message: "This model does not support assistant message prefill. The conversation must end with a user message.",
  },
  {
    rule: "E-A18",
    what: "an empty text",
    body: withMessages(s.user("")),
    message: "messages: text content blocks must be non-empty",
  },
  {
    rule: "E-A18",
    what: "a text of white space",
    body: withMessages(s.user(" \n")),
    message: "messages: text content blocks must contain non-whitespace text",
  },
  {
    rule: "E-A19",
    what: "a call without a result",
    body: withMessages(s.user("a"), called, s.user("b")),
    message: unanswered("toolu_1"),
  },
  {
    rule: "E-A19",
    what: "two calls without results",
    body: withMessages(s.user("a"), s.assistant(s.use("a", "look"), s.use("b", "look")), s.user("b")),
    message: unanswered("a, b"),
  },
  {
    rule: "E-A19",
    what: "a text before the result",
    body: withMessages(s.user("a"), called, s.user("b", s.result("toolu_1"))),
    message: unanswered("toolu_1"),
  },
  {
    rule: "E-A19",
    what: "a call in the last message",
    body: withMessages(s.user("a"), called),
    message: unanswered("toolu_1"),
  },
  {
    rule: "E-A20",
    what: "a result that answers nothing",
    body: withMessages(s.user("a"), called, s.user(s.result("toolu_1"), s.result("toolu_2"))),
    message: unexpected("toolu_2", "messages.2.content.1"),
  },
  {
    rule: "E-A20",
    what: "two results for one call",
    body: withMessages(s.user("a"), called, s.user(s.result("toolu_1"), s.result("toolu_1"))),
    message:
      "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
  },
  {
    rule: "E-A20",
    what: "two calls of one id in a message",
    body: withMessages(
      s.user("a"),
      s.assistant(s.use("toolu_1", "look"), s.use("toolu_1", "look")),
      s.user(s.result("toolu_1")),
    ),
    message: "messages.1.content.1: `tool_use` ids must be unique",
  },
  {
    rule: "E-A21",
    what: "a result for the server's call",
    body: withMessages(s.user("a"), s.assistant(searching, found), s.user(s.result("srvtoolu_1"))),
    message: unexpected("srvtoolu_1", "messages.2.content.0"),
  },
  {
    rule: "E-A22",
    what: "a server's call without its result",
    body: withMessages(s.user("a"), s.assistant(searching, "b"), s.user("c")),
    message:
      "messages.1: `tool_search_tool_bm25` tool use with id `srvtoolu_1` was found without a corresponding `tool_search_tool_bm25_tool_result` block",
  },
  {
    rule: "E-A23",
    what: "a reference beside a text",
    body: withMessages(
      s.user("a"),
      called,
      s.user(s.result("toolu_1", [s.reference("later"), { type: "text", text: "Loaded" }])),
    ),
    message: "Tool definitions/code execution functions cannot be mixed with other content",
  },
  {
    rule: "E-A24",
    what: "a failed result with a reference",
    body: withMessages(s.user("a"), called, s.user(s.result("toolu_1", [s.reference("later")], { is_error: true }))),
    message: "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true",
  },
  {
    rule: "E-A24",
    what: "a failed result that says nothing",
    body: withMessages(s.user("a"), called, s.user(s.result("toolu_1", "", { is_error: true }))),
    message: "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
  },
]);

acceptsAll(emulator, [
  [
    "a call of a tool that is not offered (E-A26)",
    withMessages(s.user("a"), s.assistant(s.use("a", "gone")), s.user(s.result("a"))),
  ],
  [
    "results split over two user messages (E-A17)",
    withMessages(
      s.user("a"),
      s.assistant(s.use("a", "look")),
      s.assistant(s.use("b", "look")),
      s.user(s.result("a")),
      s.user(s.result("b"), "c"),
    ),
  ],
  [
    "one id in two assistant messages",
    withMessages(s.user("a"), called, s.user(s.result("toolu_1")), called, s.user(s.result("toolu_1"))),
  ],
  ["a paused turn that is sent back (E-A22)", withMessages(s.user("a"), s.assistant("b", searching))],
  [
    "a beginning of the answer on an older model",
    { ...withMessages(s.user("a"), s.assistant("It is")), model: "claude-sonnet-4-5" },
  ],
]);
