import { expect, test } from "vitest";
import { loadedLine, SEARCH_SPEC, searchTools } from "../../src/catalog/search.ts";
import { words } from "../../src/catalog/words.ts";
import { catalogOf, core, tool } from "./tools.ts";

const convert = tool("convert_units", {
  description: "Converts lengths, weights and temperatures.",
  parameters: ["from", "to"],
});
const colours = tool("colours", { description: "Changes colours between hex, RGB and HSL." });
const hash = tool("hash_text", { description: "SHA-256 and other digests of a text." });
const weather = tool("getWeather", { description: "Current weather in a city.", parameters: ["city", "country_code"] });
const money = tool("currency", { description: "货币兑换:在人民币、美元和欧元之间换算金额。" });
const tools = [core("clock"), convert, colours, hash, weather, money];
const catalog = catalogOf(tools);
const none: ReadonlySet<string> = new Set();
const search = (query: unknown, active: ReadonlySet<string> = none, limit?: unknown) =>
  searchTools(catalog, active, { query, limit });

test("an exact name loads just that tool, and says so by the fixed line", () => {
  expect(search("hash_text")).toEqual({
    status: "ok",
    text: "Loaded: hash_text. Call them from now on.",
    addedToolNames: ["hash_text"],
  });
});

test("letter case does not matter, and the registered spelling is what is recorded", () => {
  expect(search("GETWEATHER").addedToolNames).toEqual(["getWeather"]);
  expect(search("Hash_Text").text).toBe(loadedLine(["hash_text"]));
});

test("of two names that differ in case the one that was written is taken", () => {
  const both = catalogOf([tool("Mail"), tool("mail")]);
  expect(searchTools(both, none, { query: "mail" }).addedToolNames).toEqual(["mail"]);
  expect(searchTools(both, none, { query: "MAIL" }).addedToolNames).toEqual(["Mail"]);
});

test.each(["hash_text, colours", "hash_text colours", "`hash_text`; `colours`", '"hash_text","colours","hash_text"'])(
  "a query of several names (%s) loads exactly those, in its order",
  (query) => {
    expect(search(query)).toEqual({
      status: "ok",
      text: loadedLine(["hash_text", "colours"]),
      addedToolNames: ["hash_text", "colours"],
    });
  },
);

test("a name in words is that name", () => {
  expect(search("convert units").addedToolNames).toEqual(["convert_units"]);
});

test("names that are not there are named, and the others load", () => {
  const result = search("hash_text, no_such_tool");
  expect(result.addedToolNames).toEqual(["hash_text"]);
  expect(result.text).toBe(`${loadedLine(["hash_text"])}\nThere is no tool named no_such_tool.`);
});

test("more names than fit are said to be left", () => {
  const many = catalogOf(["t_a", "t_b", "t_c", "t_d", "t_e", "t_f", "t_g"].map((name) => tool(name)));
  const result = searchTools(many, none, { query: "t_a t_b t_c t_d t_e t_f t_g" });
  expect(result.addedToolNames).toEqual(["t_a", "t_b", "t_c", "t_d", "t_e"]);
  expect(result.text).toContain("Not loaded, at most 5 a call: t_f, t_g.");
});

test.each([
  ["how much is 5 miles in kilometres, convert it", "convert_units"],
  ["hsl colour", "colours"],
  ["what is the weather tomorrow", "getWeather"],
  ["country code", "getWeather"],
  ["sha256 digest", "hash_text"],
  ["converting temperature", "convert_units"],
  ["WEATHER", "getWeather"],
  ["wether weathr", "getWeather"],
])("%s finds %s", (query, name) => {
  expect(search(query).addedToolNames[0]).toBe(name);
});

test("a Chinese question finds a Chinese tool", () => {
  expect(search("请把人民币换成美元").addedToolNames).toEqual(["currency"]);
  expect(search("货币兑换").addedToolNames).toEqual(["currency"]);
});

test.each(["order a pizza with extra cheese", "the", "what can you do for me", "zzz", "唱歌", "???", "42", "a b c"])(
  "a hopeless query (%s) loads nothing and says what there is",
  (query) => {
    expect(search(query)).toEqual({
      status: "ok",
      text: "Nothing found, nothing loaded. There are: convert_units, colours, hash_text, getWeather, currency.",
      addedToolNames: [],
    });
  },
);

test("at most 24 names are listed", () => {
  const many = catalogOf(Array.from({ length: 30 }, (_, i) => tool(`tool_${i}x`)));
  const { text } = searchTools(many, none, { query: "pizza" });
  expect(text).toContain("tool_23x and 6 more.");
  expect(text).not.toContain("tool_24x");
});

test("a catalog without lazy tools says that there is nothing to load", () => {
  const result = searchTools(catalogOf([core("clock")]), none, { query: "weather" });
  expect(result.text).toBe("Nothing found. There are no further tools to load.");
});

test("a core tool that is named is reported as there, and is never added", () => {
  const result = search("clock");
  expect(result).toEqual({
    status: "ok",
    text: "Always available, no need to load: clock. Call them now.",
    addedToolNames: [],
  });
  expect(search("clock, colours").addedToolNames).toEqual(["colours"]);
  expect(search("clock, colours").text.split("\n")[0]).toBe(loadedLine(["colours"]));
});

test("a tool that is loaded already is reported as such and stays in the complete list", () => {
  const active = new Set(["colours"]);
  expect(search("colours", active)).toEqual({
    status: "ok",
    text: "Already loaded: colours. Call them now.",
    addedToolNames: ["colours"],
  });
  const both = search("colours hash_text", active);
  expect(both.addedToolNames).toEqual(["colours", "hash_text"]);
  expect(both.text).toBe(`${loadedLine(["hash_text"])}\nAlready loaded: colours. Call them now.`);
  expect(search("hsl colour", active).addedToolNames).toEqual(["colours"]);
});

test("a tool that the mode forbids is never found, by name or by words, nor listed", () => {
  const plan = catalogOf(tools, { plan: { allow: ["clock", "colours"] } }, "plan");
  for (const query of ["hash_text", "sha-256 digest of a text", "pizza", "hash_text, other_tool"]) {
    const result = searchTools(plan, none, { query });
    expect(result.addedToolNames).toEqual([]);
    expect(result.text).toContain("There are: colours.");
  }
  expect(searchTools(plan, none, { query: "hsl colour" }).addedToolNames).toEqual(["colours"]);
});

test.each([undefined, null, 7, "", "  ", ["hash_text"], {}])("the query %j is an error that says so", (query) => {
  const result = search(query);
  expect(result.status).toBe("error");
  expect(result.text).toContain("query must be a text");
  expect(result.addedToolNames).toEqual([]);
});

test.each([undefined, null, "hash_text", 7, []])("an input that is no object (%j) is an error", (input) => {
  expect(searchTools(catalog, none, input).status).toBe("error");
});

test("a query above 500 characters is an error", () => {
  expect(search("x".repeat(501))).toMatchObject({ status: "error", text: "query is longer than 500 characters." });
  expect(search(`hash_text ${" ".repeat(490)}`).status).toBe("ok");
});

test("limit holds for names and for words, and is brought into its bounds", () => {
  const many = catalogOf(Array.from({ length: 9 }, (_, i) => tool(`mail_${"abcdefghi"[i]}`, { description: "Mail." })));
  const found = (limit: unknown) => searchTools(many, none, { query: "mail", limit }).addedToolNames.length;
  expect([found(undefined), found(2), found(99), found(0), found(-1), found("3"), found(2.9)]).toEqual([
    5, 2, 5, 1, 1, 5, 2,
  ]);
  expect(searchTools(many, none, { query: "mail_a mail_b", limit: 1 }).addedToolNames).toEqual(["mail_a"]);
});

test("tools that fit equally well come in catalog order, every time", () => {
  const many = catalogOf(["zeta_mail", "alfa_mail", "mike_mail"].map((name) => tool(name, { description: "Mail." })));
  for (let i = 0; i < 3; i++) {
    expect(searchTools(many, none, { query: "mail" }).addedToolNames).toEqual(["zeta_mail", "alfa_mail", "mike_mail"]);
  }
});

test("what the search tool tells the model about itself does not depend on the catalog", () => {
  expect(JSON.stringify(SEARCH_SPEC)).not.toMatch(/hash_text|colours/);
  expect(SEARCH_SPEC.name).toBe("tool_search");
  expect(SEARCH_SPEC.inputSchema).toMatchObject({ type: "object", required: ["query"] });
});

test("ten thousand tools are searched in under 10 ms once the index is there", () => {
  const verbs = ["get", "list", "create", "update", "delete", "search", "archive", "export", "import", "merge"];
  const nouns = Array.from({ length: 1000 }, (_, i) => `noun${(i * 7919) % 1000}x`);
  const big = catalogOf(
    verbs.flatMap((verb) =>
      nouns.map((noun) =>
        tool(`${verb}_${noun}`, {
          description: `Lets you ${verb} one ${noun} of the account.`,
          parameters: [noun, "page"],
        }),
      ),
    ),
  );
  const start = performance.now();
  searchTools(big, none, { query: "warm up the archive" });
  const built = performance.now() - start;
  const times = Array.from({ length: 15 }, (_, i) => {
    const from = performance.now();
    const { addedToolNames } = searchTools(big, none, { query: `archive the noun${i}x of my account` });
    expect(addedToolNames[0]).toBe(`archive_noun${i}x`);
    return performance.now() - from;
  });
  const best = Math.min(...times);
  expect({ built: built < 4_000, best: best < 10 }, `built in ${built} ms, searched in ${best} ms`).toEqual({
    built: true,
    best: true,
  });
});

test.each([
  ["getHTTPStatus_code-v2", ["get", "http", "statu", "cod", "v", "2"]],
  ["Cities, dates & hashing", ["city", "date", "hash"]],
  ["Café Ünïcode", ["cafe", "unicod"]],
  ["人民币", ["人民", "民币"]],
  ["", []],
])("the words of %s", (text, expected) => {
  const got = words(text);
  if (text.startsWith("get")) expect(got.slice(0, 2)).toEqual(["get", "http"]);
  else expect(got).toEqual(expected);
});
