import type { Workerd } from "../../test/workerd.ts";

const KEY = { authorization: "Bearer bench-secret-bench-secret-bench" };

/** Says something in a conversation with an agent. Returns what the worker says of the prefix (`x-holdfast-prefix`). */
export async function say(workerd: Workerd, agent: string, conversation: string, content: string): Promise<string> {
  const body = { model: agent, messages: [{ role: "user", content }] };
  const response = await post(workerd, "/v1/chat/completions", body, { "x-conversation-id": conversation });
  await response.text();
  return response.headers.get("x-holdfast-prefix") ?? "";
}

/** Throws where the answer is an error. */
export function post(
  workerd: Workerd,
  path: string,
  body: object,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = { ...KEY, "content-type": "application/json", ...more };
  return taken(workerd, path, { method: "POST", headers, body: JSON.stringify(body) });
}

export function get(workerd: Workerd, path: string): Promise<Response> {
  return taken(workerd, path, { headers: KEY });
}

async function taken(workerd: Workerd, path: string, init: Parameters<Workerd["fetch"]>[1]): Promise<Response> {
  const response = await workerd.fetch(path, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}
