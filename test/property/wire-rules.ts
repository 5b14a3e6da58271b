import { companionId } from "../../src/providers/load-points.ts";

/** As much of a request's body as the rules look at. */
export interface Wire {
  readonly tools?: readonly object[] | undefined;
  readonly messages: readonly { readonly content?: string | readonly Block[] | undefined }[];
}

interface Block {
  readonly type: string;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly input?: unknown;
  readonly tool_use_id?: string | undefined;
  readonly is_error?: boolean | null | undefined;
  readonly content?: unknown;
}

interface Tool {
  readonly name: string;
  readonly deferred: boolean;
}

/**
 * What no API refuses and no request of ours may show (design §3.1 to §3.4): a call in the history whose tool is not
 * declared though it is there (`deployed`); a lazy tool that is declared before anything loaded it (`loaded` remembers
 * what did, over all requests of the session: a baseline outlives a rewind); a deferred tool that
 * is not referred to exactly once, for its load point never moves; a load point at a call that failed.
 */
export function wireProblems(
  { tools = [], messages }: Wire,
  deployed: readonly string[],
  loaded: Set<string>,
): string[] {
  const declared = tools.flatMap(toolOf);
  const names = new Set(declared.map(({ name }) => name));
  const called = new Map<string, string>();
  const failed = new Set<string>();
  const references = new Map<string, number>();
  for (const { content } of messages) {
    if (content === undefined || typeof content === "string") continue;
    for (const block of content) {
      if (block.type === "tool_use") {
        called.set(block.id ?? "", block.name ?? "");
        loaded.add(block.name ?? "");
      }
      if (block.type !== "tool_result") continue;
      if (block.is_error) failed.add(block.tool_use_id ?? "");
      for (const part of partsOf(block.content)) {
        if (part.tool_name === undefined)
          for (const [name] of (part.text ?? "").matchAll(/\blazy_\d\b/g)) loaded.add(name);
        else {
          loaded.add(part.tool_name);
          references.set(part.tool_name, (references.get(part.tool_name) ?? 0) + 1);
        }
      }
    }
  }
  const problems: string[] = [];
  for (const [id, name] of called) {
    if (!names.has(name) && !failed.has(id) && deployed.includes(name))
      problems.push(`${name} was called and is not declared`);
  }
  for (const { name, deferred } of declared) {
    if (name.startsWith("lazy_") && !loaded.has(name)) problems.push(`${name} is declared and nothing loaded it`);
    const times = references.get(name) ?? 0;
    if (deferred && times !== 1) problems.push(`${name} is deferred and referred to ${times} times`);
  }
  for (const id of failed) {
    if (called.has(companionId(id))) problems.push(`the failed call ${id} is a load point`);
  }
  return problems;
}

function toolOf(tool: object): Tool[] {
  if (!("name" in tool) || typeof tool.name !== "string") return [];
  return [{ name: tool.name, deferred: "defer_loading" in tool && tool.defer_loading === true }];
}

function partsOf(content: unknown): { readonly text?: string; readonly tool_name?: string }[] {
  return Array.isArray(content) ? content : [];
}
