import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const called = s.assistant(s.use("toolu_1", "look"));
const placement = "the directive-only form (content: [] with output_config) is accepted at any position";
const withMessages = (...messages: s.Body[]) =>
  s.request({ tools: [s.tool("look"), s.tool("later", { defer_loading: true })], messages });
const byValue = (definition: s.Body) =>
  s.system({ type: "tool_addition", tool: { type: "tool_definition", definition } });
const found = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query: "x" } },
  {
    type: "tool_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: { type: "tool_search_tool_search_result", tool_references: [s.reference("gone")] },
  },
];

refusesAll(emulator, [
  {
    rule: "E-A25",
    what: "a reference to a tool that is not there",
    body: withMessages(s.user("a"), called, s.user(s.result("toolu_1", [s.reference("gone")]))),
    message: "Tool reference 'gone' not found in available tools",
  },
  {
    rule: "E-A25",
    what: "the server's reference to a tool that is not there",
    body: withMessages(s.user("a"), s.assistant(...found, "b"), s.user("c")),
    message: "Tool reference 'gone' not found in available tools",
  },
  {
    rule: "E-A29",
    what: "a system message on a model without them",
    body: { ...withMessages(s.user("a"), s.system("b")), model: "claude-sonnet-4-6" },
    message: "role 'system' is not supported on this model",
  },
  {
    rule: "E-A29",
    what: "a system message at the start",
    body: withMessages(s.system("b"), s.user("a")),
    message: `messages.0: use the top-level 'system' parameter for the initial system prompt; ${placement}`,
  },
  {
    rule: "E-A29",
    what: "a system message after the assistant",
    body: withMessages(s.user("a"), s.assistant("b"), s.system("c"), s.user("d")),
    message: `messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result; ${placement}`,
  },
  {
    rule: "E-A29",
    what: "a system message before a user message",
    body: withMessages(s.user("a"), s.system("c"), s.user("d")),
    message: `messages.1: role 'system' must precede an 'assistant' message or end the array; ${placement}`,
  },
  {
    rule: "E-A29",
    what: "an empty system message",
    body: withMessages(s.user("a"), s.system()),
    message: "messages.1: system content must contain at least one block",
  },
  {
    rule: "E-A29",
    what: "an image in a system message",
    body: withMessages(s.user("a"), s.system({ type: "image", source: { type: "url", url: "https://example.com/a" } })),
    message: "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
  },
  {
    rule: "E-A29",
    what: "a tool change for one turn",
    body: withMessages(s.user("a"), { ...s.system(s.addition("later")), clear_at: "next_user_message" }),
    message: "messages.1: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')",
  },
  {
    rule: "E-A30",
    what: "the addition of an unknown tool",
    body: withMessages(s.user("a"), s.system(s.addition("gone"))),
    message: "tool_addition/tool_removal references unknown tool 'gone'",
    code: "tool_reference_unresolved",
  },
  {
    rule: "E-A30",
    what: "the removal of an unknown tool",
    body: withMessages(s.user("a"), s.system(s.removal("gone"))),
    message: "tool_addition/tool_removal references unknown tool 'gone'",
    code: "tool_reference_unresolved",
  },
  {
    rule: "E-A30",
    what: "another kind of tool under the same name",
    body: {
      ...withMessages(s.user("a"), byValue({ type: "bash_20250124", name: "bash" })),
      tools: [s.tool("bash")],
    },
    message: "messages.1.content.0: tool 'bash' is already defined as another kind of tool",
    code: "tool_name_conflict",
  },
]);

acceptsAll(emulator, [
  [
    "a reference to a tool that is not deferred (E-A27)",
    withMessages(s.user("a"), called, s.user(s.result("toolu_1", [s.reference("look")]))),
  ],
  ["two system messages in a row", withMessages(s.user("a"), s.system("b"), s.system(s.addition("later")))],
  [
    "a tool added by value and referred to later",
    withMessages(
      s.user("a"),
      byValue(s.tool("new")),
      called,
      s.user(s.result("toolu_1", [s.reference("new")])),
      s.system(s.removal("new")),
    ),
  ],
  [
    "a directive without content at any position",
    withMessages({ ...s.system(), output_config: { effort: "low" } }, s.user("a")),
  ],
]);
