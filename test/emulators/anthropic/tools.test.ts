import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const called = s.assistant(s.use("toolu_1", "look"));
const look = [s.tool("look"), s.tool("later", { defer_loading: true })];
const conversation = [s.user("Hello"), called, s.user(s.result("toolu_1"), "Go on")];
const valid = s.request({ tools: look, messages: conversation });
const manyTools = [
  s.tool("look"),
  ...Array.from({ length: 10_001 }, (_, n) => ({
    name: `t${n}`,
    defer_loading: true,
    input_schema: { type: "object" },
  })),
];
const marked = (text: string) => ({ type: "text", text, ...s.marker });
const bm25 = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" };
const schemaHelp =
  "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.";
const withMessages = (...messages: s.Body[]) => ({ ...valid, messages });
const withTools = (...tools: s.Body[]) => s.request({ tools });

refusesAll(emulator, [
  {
    rule: "E-A08",
    what: "a bad tool name",
    body: withTools(s.tool("look at")),
    message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
  {
    rule: "E-A08",
    what: "two tools of one name",
    body: withTools(s.tool("look"), s.tool("look")),
    message: "tools: Tool names must be unique.",
  },
  {
    rule: "E-A08",
    what: "a schema without a type",
    body: withTools(s.tool("look", { input_schema: {} })),
    message: "tools.0.custom.input_schema.type: Field required",
  },
  {
    rule: "E-A08",
    what: "an invalid schema",
    body: withTools(s.tool("look", { input_schema: { type: "object", properties: { a: { type: "strin" } } } })),
    message: `tools.0.custom.input_schema: ${schemaHelp}`,
  },
  {
    rule: "E-A09",
    what: "nothing but deferred tools",
    body: withTools(s.tool("later", { defer_loading: true })),
    message: "At least one tool must have defer_loading=false. All tools cannot be deferred.",
  },
  {
    rule: "E-A10",
    what: "a marker on a deferred tool",
    body: withTools(s.tool("look"), s.tool("later", { defer_loading: true, ...s.marker })),
    message:
      "Tool 'later' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
  },
  {
    rule: "E-A11",
    what: "a deferred search tool",
    body: withTools(s.tool("look"), { ...bm25, defer_loading: true }),
    message: "tools.1.defer_loading: tool search tools cannot be deferred",
  },
  {
    rule: "E-A12",
    what: "a search tool with another name",
    body: withTools({ ...bm25, name: "search" }),
    message: "tools.0.tool_search_tool_bm25_20251119.name: Input should be 'tool_search_tool_bm25'",
  },
  {
    rule: "E-A13",
    what: "more than 10,000 deferred tools",
    body: withTools(...manyTools),
    message: "tools: at most 10000 tools may have defer_loading=true. Found 10001.",
    code: "available_tools_limit_exceeded",
  },
  {
    rule: "E-A14",
    what: "five markers",
    body: withMessages(
      s.user(marked("a"), marked("b"), marked("c"), { type: "text", text: "d", ...s.marker }, marked("e")),
    ),
    message: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  },
  {
    rule: "E-A14",
    what: "a fifth marker inside a result and one at the top",
    body: {
      ...withMessages(
        s.user(marked("a"), marked("b"), marked("c")),
        called,
        s.user(s.result("toolu_1", [marked("d")])),
      ),
      ...s.marker,
    },
    message: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  },
  {
    rule: "E-A14",
    what: "1h after 5m",
    body: withMessages(
      s.user(marked("a"), { type: "text", text: "b", cache_control: { type: "ephemeral", ttl: "1h" } }),
    ),
    message:
      "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  },
  {
    rule: "E-A14",
    what: "a marker on an empty text",
    body: withMessages(s.user(marked(""))),
    message: "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
  },
]);

acceptsAll(emulator, [
  ["the valid request itself", valid],
  ["deferred tools without a search tool (E-A28)", s.request({ tools: look })],
  [
    "a reference to a tool that is not deferred (E-A27)",
    withMessages(s.user("a"), called, s.user(s.result("toolu_1", [s.reference("look")]))),
  ],
]);
