import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { parseExactly } from "./exact-json.ts";
import { readJsonPath } from "./json-path.ts";

/** Takes one part out of a JSON text. */
export const queryJson = defineTool({
  name: "query_json",
  description: "Extracts values from a JSON text by a path such as $.orders[0].items[*].name.",
  risk: "read",
  idempotent: true,
  input: z.object({
    json: z.string().max(500_000).describe("The JSON text."),
    path: z.string().max(500).describe('Keys, [n], ["a key"] and * for every value; $ is the whole.'),
  }),
  execute: ({ json, path }) => JSON.stringify(readJsonPath(parse(json), path)),
});

function parse(json: string): unknown {
  try {
    return parseExactly(json);
  } catch (thrown) {
    throw new Error(`The text is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
