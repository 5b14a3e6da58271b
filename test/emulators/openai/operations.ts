import { mintId } from "../common/ids.ts";
import { seal } from "./encrypted.ts";
import type { AcceptedRequest } from "./examine.ts";
import type { RecordedRequest } from "./record.ts";

/** The answer of `/v1/responses/input_tokens`. */
export function counted({ rendered }: AcceptedRequest): object {
  return { object: "response.input_tokens", input_tokens: tokensOf(rendered) };
}

/** The answer of `/v1/responses/compact`: the messages of the user, and all else in one item that only the API reads. */
export function compaction(request: AcceptedRequest, { n, bodyText, at }: RecordedRequest): object {
  const { items, model, rendered } = request;
  const kept = items.filter((one) => one.type === "message" && one.role === "user");
  const tokens = tokensOf(rendered);
  return {
    id: mintId("resp_", n, bodyText),
    object: "response.compaction",
    created_at: Math.floor(at / 1000),
    output: [
      ...kept,
      {
        id: mintId("cmp_", n, bodyText),
        type: "compaction",
        encrypted_content: seal(JSON.stringify(items), model.id),
      },
    ],
    usage: {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 1,
    },
  };
}

function tokensOf(rendered: AcceptedRequest["rendered"]): number {
  return rendered.reduce((sum, block) => sum + block.tokens, 0);
}
