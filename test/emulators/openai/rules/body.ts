import { type Failure, invalid } from "../failure.ts";

/** E-O02: a body that is not JSON. The text is ours as far as it is known. */
export function parseBody(text: string): { readonly json: unknown } | { readonly failure: Failure } {
  try {
    const json: unknown = JSON.parse(text);
    return { json };
  } catch {
    const message =
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)";
    return { failure: invalid("E-O02", message) };
  }
}

/** E-O03: a model that does not exist. The vendor's text is general knowledge; 400 has been seen too. */
export function noSuchModel(name: string): Failure {
  const message = `The model \`${name}\` does not exist or you do not have access to it.`;
  return { rule: "E-O03", status: 404, type: "invalid_request_error", message, param: null, code: "model_not_found" };
}
