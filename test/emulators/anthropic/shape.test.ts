import { test } from "vitest";
import { acceptsAll, expectAccepted, expectRefusal, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const called = s.assistant(s.use("toolu_1", "look"));
const look = [s.tool("look"), s.tool("later", { defer_loading: true })];
const conversation = [s.user("Hello"), called, s.user(s.result("toolu_1"), "Go on")];
const valid = s.request({ tools: look, messages: conversation });
const withMessages = (...messages: s.Body[]) => ({ ...valid, messages });
const withTools = (...tools: s.Body[]) => s.request({ tools });

refusesAll(emulator, [
  {
    rule: "E-A05",
    what: "an unknown model",
    body: { ...valid, model: "claude-does-not-exist" },
    message: "model: claude-does-not-exist",
    status: 404,
    type: "not_found_error",
  },
  {
    rule: "E-A06",
    what: "an unknown field",
    body: { ...valid, seed: 1 },
    message: "seed: Extra inputs are not permitted",
  },
  {
    rule: "E-A06",
    what: "an unknown field of a block",
    body: withMessages(s.user({ type: "text", text: "a", id: "1" })),
    message: "messages.0.content.0.text.id: Extra inputs are not permitted",
  },
  {
    rule: "E-A06",
    what: "an unknown field of a tool",
    body: withTools(s.tool("look", { deferred: true })),
    message: "tools.0.custom.deferred: Extra inputs are not permitted",
  },
  {
    rule: "E-A06",
    what: "a missing max_tokens",
    body: { ...valid, max_tokens: undefined },
    message: "max_tokens: Field required",
  },
  {
    rule: "E-A06",
    what: "a missing model",
    body: { ...valid, model: undefined },
    message: "model: Field required",
  },
  {
    rule: "E-A06",
    what: "a missing field of a block",
    body: withMessages(s.user({ type: "text" })),
    message: "messages.0.content.0.text.text: Field required",
  },
  {
    rule: "E-A06",
    what: "a block without a type",
    body: withMessages(s.user({ text: "a" })),
    message: "messages.0.content.0.type: Field required",
  },
  {
    rule: "E-A06",
    what: "a reference as a block of a message",
    body: withMessages(s.user(s.reference("later"))),
    message:
      "messages.0.content.0: Input tag 'tool_reference' found using 'type' does not match any of the expected tags",
  },
  {
    rule: "E-A06",
    what: "a call id with other characters",
    body: withMessages(s.user("a"), s.assistant(s.use("a.b", "look")), s.user(s.result("a.b"))),
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  },
  {
    rule: "E-A06",
    what: "a wrong kind of value",
    body: { ...valid, stream: "yes" },
    message: "stream: Input should be a valid boolean",
  },
  {
    rule: "E-A06",
    what: "a cache marker on thinking",
    body: withMessages(
      s.user("a"),
      s.assistant({ type: "thinking", thinking: "a", signature: "b", ...s.marker }),
      s.user("b"),
    ),
    message: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
  },
  {
    rule: "E-A06",
    what: "a foreign id for diagnostics",
    body: { ...valid, diagnostics: { previous_message_id: "resp_1" } },
    message:
      "diagnostics.previous_message_id: must be the `id` from a prior /v1/messages response (starts with `msg_`)",
  },
]);

acceptsAll(emulator, [
  ["the valid request itself", valid],
  ["deferred tools without a search tool (E-A28)", s.request({ tools: look })],
  [
    "a reference to a tool that is not deferred (E-A27)",
    withMessages(s.user("a"), called, s.user(s.result("toolu_1", [s.reference("look")]))),
  ],
  [
    "a result without content",
    withMessages(s.user("a"), called, s.user({ type: "tool_result", tool_use_id: "toolu_1" })),
  ],
  ["two system messages in a row", withMessages(s.user("a"), s.system("b"), s.system(s.addition("later")))],
  ["the tools taken away by choice", { ...valid, tool_choice: { type: "none" } }],
  [
    "a tool added by value and referred to later",
    withMessages(
      s.user("a"),
      s.system({ type: "tool_addition", tool: { type: "tool_definition", definition: s.tool("new") } }),
      called,
      s.user(s.result("toolu_1", [s.reference("new")])),
    ),
  ],
]);

const gated: [string, s.Body, string][] = [
  ["context_management", { ...valid, context_management: { edits: [] } }, "context_management"],
  ["compaction", { ...valid, compaction: { type: "summarize" } }, "compaction"],
  ["clear_at", withMessages(s.user("a"), { ...s.system("b"), clear_at: "next_user_message" }), "messages.1.clear_at"],
  [
    "tool_definition",
    withMessages(
      s.user("a"),
      s.system({ type: "tool_addition", tool: { type: "tool_definition", definition: s.tool("new") } }),
    ),
    "messages.1.content.0.tool_addition.tool.tool_definition",
  ],
  ["tool_addition", withMessages(s.user("a"), s.system(s.addition("later"))), "messages.1.content.0.tool_addition"],
  [
    "block_binding",
    { ...valid, thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } },
    "thinking.adaptive.block_binding",
  ],
];
test.for(gated)(
  "A request is refused by E-A07 for %s without its beta, and accepted with it",
  async ([what, body, path]) => {
    const without = { ...s.headers, "anthropic-beta": "" };
    const message = `${path}: Extra inputs are not permitted`;
    await expectRefusal(emulator(), { rule: "E-A07", what, body, message }, without);
    await expectAccepted(emulator(), body);
  },
);
