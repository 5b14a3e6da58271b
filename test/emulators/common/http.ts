import type { IncomingMessage } from "node:http";

/** The path of a request without its query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0] ?? "";
}

/** The whole body as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** The headers, names in lower case, several values of one name joined. */
export function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return plain;
}
