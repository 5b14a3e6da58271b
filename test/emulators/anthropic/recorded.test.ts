import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseRecordings } from "../agree/recorded.ts";
import { incoming } from "./agree.ts";
import { examine } from "./examine.ts";

const file = process.env.HOLDFAST_RECORDED;
const exchanges = file === undefined ? [] : parseRecordings(readFileSync(file, "utf8"));
const good = exchanges.filter(({ provider, status }) => provider === "anthropic" && status === 200);

/** A body that may be changed. */
interface Loose {
  [field: string]: unknown;
  tools?: { [field: string]: unknown }[];
  messages: { role: string; content: unknown }[];
}

/** One change to a body, and how it is refused. `null`: there is nothing to change in this body. */
interface Mutation {
  readonly what: string;
  readonly rule: string;
  readonly change: (body: Loose) => Loose | null;
}

const results = (body: Loose) =>
  body.messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter((b) => b.type === "tool_result");
const withTools = (body: Loose, change: (tools: NonNullable<Loose["tools"]>) => NonNullable<Loose["tools"]>) =>
  body.tools === undefined || body.tools.length === 0 ? null : { ...body, tools: change(body.tools) };

const mutations: readonly Mutation[] = [
  { what: "another model", rule: "E-A05", change: (body) => ({ ...body, model: "claude-none" }) },
  { what: "an unknown field", rule: "E-A06", change: (body) => ({ ...body, n: 1 }) },
  { what: "no messages", rule: "E-A15", change: (body) => ({ ...body, messages: [] }) },
  {
    what: "a tool twice",
    rule: "E-A08",
    change: (body) => withTools(body, ([first = {}, ...rest]) => [first, first, ...rest]),
  },
  {
    what: "all tools deferred",
    rule: "E-A09",
    change: (body) =>
      withTools(body, (tools) =>
        tools.filter((tool) => "input_schema" in tool).map((tool) => ({ ...tool, defer_loading: true })),
      ),
  },
  {
    what: "a marked deferred tool",
    rule: "E-A10",
    change: (body) =>
      withTools(body, (tools) => [
        ...tools,
        { name: "extra", input_schema: { type: "object" }, defer_loading: true, cache_control: { type: "ephemeral" } },
        { name: "plain", input_schema: { type: "object" } },
      ]),
  },
  {
    what: "no results",
    rule: "E-A19",
    change: (body) =>
      results(body).length === 0
        ? null
        : {
            ...body,
            messages: body.messages.map((message) =>
              JSON.stringify(message).includes('"tool_result"') ? { role: "user", content: "Hello" } : message,
            ),
          },
  },
  {
    what: "a result with another id",
    rule: "E-A20",
    change: (body) => ({
      ...body,
      messages: [
        ...body.messages.slice(0, 1),
        { role: "user", content: [{ type: "tool_result", tool_use_id: "none", content: "a" }] },
      ],
    }),
  },
  {
    what: "a reference to nothing",
    rule: "E-A25",
    change: (body) => {
      const text = JSON.stringify(body);
      const changed = text.replaceAll(/"tool_name":"[^"]+"/g, '"tool_name":"no_such_tool"');
      const parsed: Loose = JSON.parse(changed);
      return changed === text ? null : parsed;
    },
  },
];

describe.runIf(good.length > 0)("A recorded request with one mistake", () => {
  test.for(mutations)("is refused by $rule for $what", ({ rule, change }) => {
    let tried = 0;
    for (const exchange of good) {
      const body: Loose = JSON.parse(JSON.stringify(exchange.request));
      const changed = change(body);
      if (changed === null || (Array.isArray(changed.tools) && changed.tools.length === 0)) continue;
      const examined = examine(incoming({ path: exchange.path, request: changed }), { signatures: "any" });
      const got = examined.kind === "refused" ? examined.failure.rule : "accepted";
      expect([exchange.id, got]).toEqual([exchange.id, rule]);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(0);
  });
});
