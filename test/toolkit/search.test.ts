import { expect, test } from "vitest";
import { toolCatalog } from "../../src/catalog/catalog.ts";
import { searchTools } from "../../src/catalog/search.ts";
import { lazy } from "../../src/define/lazy.ts";
import { everyday, occasional } from "../../src/toolkit/toolkit.ts";

const catalog = toolCatalog({ tools: [...everyday, ...lazy(occasional)], modes: {} }, "agent");
const found = (query: string) => searchTools(catalog, new Set(), { query }).addedToolNames;

test.each([
  ["convert miles to kilometers", "convert_units"],
  ["fahrenheit celsius", "convert_units"],
  ["unit conversion", "convert_units"],
  ["color hex to rgb", "convert_colour"],
  ["days between two dates", "date_difference"],
  ["add days to a date", "date_add"],
  ["count words", "text_statistics"],
  ["diff two texts", "compare_text"],
  ["sort lines alphabetically", "sort_lines"],
  ["url slug", "slugify"],
  ["base64 decode", "encode_text"],
  ["sha256 hash", "hash_text"],
  ["uuid", "generate_uuid"],
  ["extract a field from json", "query_json"],
  ["average and standard deviation", "statistics"],
  ["binary to decimal", "convert_base"],
  ["roman numerals", "roman_numerals"],
])("a model that asks for %j gets %s first, and not much else", (query, name) => {
  expect(found(query)[0]).toBe(name);
  expect(found(query).length).toBeLessThanOrEqual(3);
});

test.each(["send an email", "order a pizza", "current weather in Paris", "play some music", "read a file from disk"])(
  "nothing that ships is offered for %j",
  (query) => {
    expect(found(query)).toEqual([]);
  },
);
