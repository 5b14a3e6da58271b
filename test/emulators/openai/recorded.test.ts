import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseRecordings } from "../agree/recorded.ts";
import { examineRecorded } from "./agree.ts";
import { uncovered } from "./coverage.ts";

const file = process.env.HOLDFAST_RECORDED;
const exchanges = file === undefined ? [] : parseRecordings(readFileSync(file, "utf8"));
const good = exchanges.filter(({ provider, status, request }) => {
  return provider === "openai" && status === 200 && uncovered(request) === null && Array.isArray(request.input);
});

/** A body that may be changed. */
interface Loose {
  [field: string]: unknown;
  model: string;
  tools?: { [field: string]: unknown }[];
  input: { [field: string]: unknown; type?: string }[];
}

/** One change to a body, and how it is refused. `null`: there is nothing to change in this body. */
interface Mutation {
  readonly what: string;
  readonly rule: string;
  readonly change: (body: Loose) => Loose | null;
}

const without = (body: Loose, ...types: string[]) => {
  if (!body.input.some(({ type }) => type === types[0])) return null;
  const input = body.input.filter(({ type = "" }) => !types.includes(type));
  return body.previous_response_id ? null : { ...body, input };
};

const mutations: readonly Mutation[] = [
  { what: "another model", rule: "E-O03", change: (body) => ({ ...body, model: "gpt-none" }) },
  { what: "an unknown field", rule: "E-O02", change: (body) => ({ ...body, messages: [] }) },
  {
    what: "no outputs",
    rule: "E-O10",
    change: (body) =>
      body.input.some(({ type }) => type === "function_call") ? without(body, "function_call_output") : null,
  },
  {
    what: "no calls",
    rule: "E-O10",
    change: (body) => without(body, "function_call", "reasoning"),
  },
  {
    what: "no search beside what is deferred",
    rule: "E-O05",
    change: (body) =>
      body.tools?.some((tool) => tool.defer_loading === true)
        ? { ...body, tools: body.tools.filter(({ type }) => type !== "tool_search") }
        : null,
  },
  {
    what: "calls without their namespace",
    rule: "E-O13",
    change(body) {
      const own = body.input.some(({ namespace }) => typeof namespace === "string");
      // There the call of what additional_tools loaded has none to begin with.
      if (!own || body.model.startsWith("gpt-5.6")) return null;
      return { ...body, input: body.input.map(({ namespace: _, ...item }) => item) };
    },
  },
  {
    what: "reasoning at the end",
    rule: "E-O15",
    change(body) {
      const reasoning = body.input.find(({ type }) => type === "reasoning");
      return reasoning === undefined ? null : { ...body, input: [...body.input, { ...reasoning, id: "rs_other" }] };
    },
  },
  {
    what: "a tool with a bad name",
    rule: "E-O04",
    change: (body) => ({
      ...body,
      tools: [...(body.tools ?? []), { type: "function", name: "a b", parameters: { type: "object" } }],
    }),
  },
];

describe.runIf(good.length > 0)("A recorded request with one mistake", () => {
  test.for(mutations)("is refused by $rule for $what", ({ rule, change }) => {
    let tried = 0;
    for (const { id, path, request } of good.filter((exchange) => exchange.path === "/v1/responses")) {
      const body: Loose = JSON.parse(JSON.stringify(request));
      const changed = change(body);
      if (changed === null) continue;
      const examined = examineRecorded({ path, request: changed });
      expect([id, examined.kind === "refused" ? examined.failure.rule : "accepted"]).toEqual([id, rule]);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(0);
  });
});
