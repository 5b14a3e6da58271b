/** What the scripted model understands a question to ask: a tool's work, with its input, and how to search for it. */
export interface Wish {
  readonly tool: string;
  readonly query: string;
  readonly input: object;
}

type Reader = (question: string) => Wish | null;

const ISO_DATE = /\b\d{4}-\d{2}-\d{2}\b/g;
const QUOTED = /["“'‘`]([^"”'’`]+)["”'’`]/g;
const UNITS =
  "nautical miles?|miles?|mi|km/h|km|kilomet(?:er|re)s?|met(?:er|re)s?|m|cm|mm|inch(?:es)?|in|feet|foot|ft|yards?|" +
  "kilograms?|kg|grams?|g|pounds?|lbs?|ounces?|oz|(?:degrees? )?celsius|°c|c|(?:degrees? )?fahrenheit|°f|f|kelvin|k|" +
  "lit(?:er|re)s?|l|ml|gallons?|pints?|cups?|hectares?|acres?|mph|m/s|knots?|seconds?|minutes?|hours?|days?|weeks?|" +
  "bytes?|kb|mb|gb|tb|kib|mib|gib|joules?|kj|kcal|kwh|bar|psi|atm";
const MEASURE = new RegExp(`(-?\\d+(?:\\.\\d+)?)\\s*(${UNITS})\\s+(?:to|in|into|as)\\s+(${UNITS})\\b`, "i");
const HOW_MANY = new RegExp(
  `how many (${UNITS}) (?:is|are|in|make|does) (?:are )?(?:in )?(-?\\d+(?:\\.\\d+)?)\\s*(${UNITS})\\b`,
  "i",
);
const CITIES: ReadonlyMap<string, string> = new Map([
  ["berlin", "Europe/Berlin"],
  ["london", "Europe/London"],
  ["paris", "Europe/Paris"],
  ["new york", "America/New_York"],
  ["san francisco", "America/Los_Angeles"],
  ["tokyo", "Asia/Tokyo"],
  ["sydney", "Australia/Sydney"],
  ["delhi", "Asia/Kolkata"],
  ["beijing", "Asia/Shanghai"],
]);
const BASES: ReadonlyMap<string, number> = new Map([
  ["binary", 2],
  ["octal", 8],
  ["decimal", 10],
  ["hex", 16],
  ["hexadecimal", 16],
]);

/** Asked in order; the first that understands the question wins. */
const READERS: readonly Reader[] = [
  toolSearch,
  hash,
  encoding,
  slug,
  textCount,
  uuid,
  roman,
  colour,
  dates,
  base,
  measure,
  figures,
  time,
  chance,
  arithmetic,
];

/** The script's patterns look for short requests; in a long text they would take their time. */
const LONGEST_REQUEST = 1_000;

/** The wish a question holds, or null if the script knows none. */
export function readWish(question: string): Wish | null {
  const named = namedTool(question);
  if (named !== null) return named;
  const short = question.slice(0, LONGEST_REQUEST);
  for (const read of READERS) {
    const wish = read(short);
    if (wish !== null) return wish;
  }
  return null;
}

/** `call save_note with {"title":"x"}`: any tool, so that every agent can be tried without a key. */
function namedTool(question: string): Wish | null {
  const [, tool, json] = /\b(?:call|use|run)\s+`?([A-Za-z][\w-]*)`?\s*(?:with\s*)?(\{.*\})?/is.exec(question) ?? [];
  if (tool === undefined || (json === undefined && !tool.includes("_"))) return null;
  const input = json === undefined ? {} : parsed(json);
  return input === null ? null : { tool, query: tool, input };
}

function toolSearch(question: string): Wish | null {
  const [, query] =
    /\b(?:find|search|look|load)\s+(?:me\s+)?(?:for\s+)?(?:a |the |some )?tools?\s+(?:for|about|named|that can|to)\s+(.{1,200}?)[.?!]?$/i.exec(
      question,
    ) ?? [];
  return query === undefined ? null : { tool: "tool_search", query, input: { query } };
}

function hash(question: string): Wish | null {
  if (!/\b(hash|digest|checksum|sha-?(1|256|384|512))\b/i.test(question)) return null;
  const [text] = quoted(question);
  if (text === undefined) return null;
  const [, bits = "256"] = /sha-?(1|256|384|512)/i.exec(question) ?? [];
  return { tool: "hash_text", query: "hash a text", input: { text, algorithm: `SHA-${bits}` } };
}

function encoding(question: string): Wish | null {
  const [, name] = /\b(base64url|base64|url|hex)\b/i.exec(question) ?? [];
  const [, direction] = /\b(encode|decode)\b/i.exec(question) ?? [];
  const [text] = quoted(question);
  if (name === undefined || direction === undefined || text === undefined) return null;
  const input = { text, format: name.toLowerCase(), direction: direction.toLowerCase() };
  return { tool: "encode_text", query: "encode or decode text", input };
}

function slug(question: string): Wish | null {
  const [text] = quoted(question);
  return /\bslug/i.test(question) && text !== undefined
    ? { tool: "slugify", query: "slug of a title", input: { text } }
    : null;
}

function textCount(question: string): Wish | null {
  const [text] = quoted(question);
  if (!/\b(count|how many)\b.*\b(words?|characters?|letters?|sentences?)\b/i.test(question) || text === undefined)
    return null;
  return { tool: "text_statistics", query: "count words and characters", input: { text } };
}

function uuid(question: string): Wish | null {
  return /\buuids?\b/i.test(question) ? { tool: "generate_uuid", query: "generate a UUID", input: {} } : null;
}

function roman(question: string): Wish | null {
  if (!/\broman\b/i.test(question)) return null;
  const [value] = /\b(\d{1,4}|[MDCLXVI]{2,})\b/.exec(question) ?? [];
  return value === undefined ? null : { tool: "roman_numerals", query: "roman numeral", input: { value } };
}

function colour(question: string): Wish | null {
  const [value] = /#[0-9a-f]{6}\b|#[0-9a-f]{3}\b|\b(?:rgb|hsl)\([^)]*\)/i.exec(question) ?? [];
  return value === undefined ? null : { tool: "convert_colour", query: "convert a colour", input: { colour: value } };
}

function dates(question: string): Wish | null {
  const [first, second] = question.match(ISO_DATE) ?? [];
  if (first === undefined) return null;
  if (second !== undefined) {
    return { tool: "date_difference", query: "days between dates", input: { from: first, to: second } };
  }
  const [, amount, unit = ""] = /(\d+)\s+(day|week|month|year)s?\b/i.exec(question) ?? [];
  if (amount === undefined) return null;
  const sign = /\b(before|minus|earlier|subtract)\b/i.test(question) ? -1 : 1;
  const input = { date: first, [`${unit.toLowerCase()}s`]: sign * Number(amount) };
  return { tool: "date_add", query: "add days to a date", input };
}

function base(question: string): Wish | null {
  const [, number, name = "", radix] =
    /\b(0x[0-9a-f]+|0b[01]+|\d+)\s+(?:to|in|into|as)\s+(?:(binary|octal|decimal|hexadecimal|hex)|base (\d+))\b/i.exec(
      question,
    ) ?? [];
  const to = BASES.get(name.toLowerCase()) ?? Number(radix);
  if (number === undefined || Number.isNaN(to)) return null;
  const from = /^0x/i.test(number) ? 16 : /^0b/i.test(number) ? 2 : 10;
  return { tool: "convert_base", query: "convert number base", input: { number, from, to } };
}

function measure(question: string): Wish | null {
  const [, value, from, to] = MEASURE.exec(question) ?? [];
  const [, wanted, amount, given] = HOW_MANY.exec(question) ?? [];
  const input =
    value !== undefined ? { value: Number(value), from, to } : { value: Number(amount), from: given, to: wanted };
  return Number.isNaN(input.value) ? null : { tool: "convert_units", query: "convert units", input };
}

function figures(question: string): Wish | null {
  if (!/\b(mean|median|average|standard deviation|statistics)\b/i.test(question)) return null;
  const numbers = (question.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  return numbers.length < 2 ? null : { tool: "statistics", query: "mean and median of numbers", input: { numbers } };
}

function time(question: string): Wish | null {
  if (!/\b(what|tell|current|which)\b.*\b(time|date|day is)\b/i.test(question)) return null;
  const [zone] = /\b[A-Z]\w+\/[A-Z]\w+\b/.exec(question) ?? [];
  const city = [...CITIES.keys()].find((name) => question.toLowerCase().includes(name)) ?? "";
  return { tool: "clock", query: "current time", input: { timeZone: zone ?? CITIES.get(city) ?? "UTC" } };
}

function chance(question: string): Wish | null {
  if (/\bflip\b.*\bcoin\b/i.test(question))
    return { tool: "random", query: "random number", input: { min: 0, max: 1 } };
  if (/\b(roll|throw)\b.*\b(die|dice)\b/i.test(question))
    return { tool: "random", query: "random number", input: { min: 1, max: 6 } };
  return /\brandom number\b/i.test(question) ? { tool: "random", query: "random number", input: {} } : null;
}

function arithmetic(question: string): Wish | null {
  const [found] = /[-(\d.][-+*/^%().\d\s]*[\d)]/.exec(question.replaceAll(ISO_DATE, "")) ?? [];
  const expression = found?.trim() ?? "";
  if (!/\d\s*[-+*/^%]\s*[-(]*\d/.test(expression)) return null;
  return { tool: "calculator", query: "calculator", input: { expression } };
}

function quoted(question: string): string[] {
  return [...question.matchAll(QUOTED)].map(([, text = ""]) => text);
}

function parsed(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
