import { SYSTEM } from "./catalog.ts";
import type { Dialect } from "./openai-client.ts";

interface OutputItem {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
}

/** OpenAI's Responses API, without anything stored there. */
export const responses: Dialect = {
  path: "/responses",
  tool: ({ name, description, inputSchema: parameters }, deferred) => {
    if (deferred && name === "tool_search")
      return { type: "tool_search", execution: "client", description, parameters };
    const tool = { type: "function", name, description, parameters, strict: false };
    return deferred ? { ...tool, defer_loading: true } : tool;
  },
  user: (text) => ({ role: "user", content: text }),
  found: (call_id, tools) => ({
    ...{ type: "tool_search_output", execution: "client", call_id, status: "completed" },
    tools: tools.map((spec) => responses.tool(spec, true)),
  }),
  result: (call_id, output) => ({ type: "function_call_output", call_id, output }),
  mended: (items, inline) =>
    items.map((item) => {
      const { type, name = "" } = item as OutputItem;
      return type === "function_call" && !inline.has(name) ? { ...item, namespace: name } : item;
    }),
  body: (model, tools, input) => ({
    model,
    store: false,
    prompt_cache_key: "bench",
    instructions: SYSTEM,
    tools,
    input,
  }),
  read(answer) {
    const { output } = answer as { output: readonly OutputItem[] };
    const calls = output.flatMap(({ type, call_id: id = "", name = "tool_search", arguments: input }) => {
      if (type === "tool_search_call") return [{ id, name, input }];
      return type === "function_call" ? [{ id, name, input: JSON.parse(String(input)) }] : [];
    });
    return { items: output, calls };
  },
};

interface Completion {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
    };
  }[];
}

/** Chat Completions. */
export const chat: Dialect = {
  path: "/chat/completions",
  tool: ({ name, description, inputSchema: parameters }) => {
    return { type: "function", function: { name, description, parameters } };
  },
  user: (content) => ({ role: "user", content }),
  result: (tool_call_id, content) => ({ role: "tool", tool_call_id, content }),
  body: (model, tools, messages) => ({ model, tools, messages: [{ role: "system", content: SYSTEM }, ...messages] }),
  read(answer) {
    const { content = null, tool_calls } = (answer as Completion).choices[0]?.message ?? {};
    const calls = (tool_calls ?? []).map(({ id, function: made }) => {
      return { id, name: made.name, input: JSON.parse(made.arguments) as unknown };
    });
    const message = { role: "assistant", content, ...(tool_calls === undefined ? {} : { tool_calls }) };
    return { items: [message], calls };
  },
};
