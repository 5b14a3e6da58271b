import type { ToolSpec } from "../../src/values/tool.ts";

/** The tools of the cache benchmark: fifteen services of eight operations each, in the shape MCP servers give them. */
const SERVICES: readonly (readonly [name: string, thing: string, fields: readonly string[]])[] = [
  ["calendar", "event", ["starts_at", "ends_at", "attendees", "location", "recurrence"]],
  ["mail", "message", ["recipients", "subject", "body", "labels", "in_reply_to"]],
  ["files", "file", ["path", "media_type", "folder_id", "size_limit", "revision"]],
  ["tickets", "ticket", ["title", "severity", "assignee", "component", "due_date"]],
  ["crm", "account", ["company", "industry", "owner_email", "annual_revenue", "stage"]],
  ["invoices", "invoice", ["customer_id", "currency", "line_items", "tax_rate", "payment_terms"]],
  ["contacts", "contact", ["given_name", "family_name", "phone_numbers", "company", "birthday"]],
  ["chat", "channel message", ["channel", "thread_id", "text", "mentions", "scheduled_for"]],
  ["wiki", "page", ["space", "title", "markdown", "parent_page", "restrictions"]],
  ["repo", "pull request", ["repository", "head_branch", "base_branch", "reviewers", "description"]],
  ["deploy", "release", ["environment", "version", "strategy", "health_check", "rollback_to"]],
  ["metrics", "time series", ["metric_name", "aggregation", "window", "group_by", "filters"]],
  ["alerts", "alert rule", ["condition", "threshold", "notify", "runbook_url", "silence_until"]],
  ["surveys", "survey", ["audience", "questions", "language", "closes_at", "anonymous"]],
  ["travel", "booking", ["origin", "destination", "departs_at", "returns_at", "cabin_class"]],
];

const OPERATIONS: readonly (readonly [name: string, text: string])[] = [
  ["list", "Lists every %s that the caller may see, newest first, a page at a time."],
  ["search", "Finds any %s by words and filters, ranked by relevance. Prefer this over listing all of them."],
  ["get", "Reads one %s with all of its fields, its history of changes and the people who may see it."],
  ["create", "Creates a new %s. Ask the user before you create more than one; the answer holds its identifier."],
  ["update", "Changes fields of a %s. Fields that are left out stay as they are; null clears an optional field."],
  ["archive", "Archives a %s, so that it no longer shows up in lists. It can be restored for thirty days."],
  ["share", "Gives other people access to a %s, or takes it away. Sharing outside the company needs an approval."],
  ["export", "Writes a %s into a file of the given format and returns a link that works for one hour."],
];

/** 120 definitions, about 350 tokens each. */
export const LAZY_SPECS: readonly ToolSpec[] = SERVICES.flatMap(([service, thing, fields]) =>
  OPERATIONS.map(([operation, text]) => ({
    name: `${service}_${operation}`,
    description:
      `${text.replace("%s", thing)} Part of the ${service} service. Times are ISO 8601 with a time zone; ` +
      `identifiers are opaque and must come from an earlier answer of this service, never from the user's words.`,
    inputSchema: {
      type: "object",
      properties: {
        [`${service}_id`]: { type: "string", description: `Identifier of the ${thing}, as an earlier answer gave it.` },
        ...Object.fromEntries(fields.map((field) => [field, fieldSchema(field, thing)])),
        page_size: { type: "integer", minimum: 1, maximum: 200, description: "How many results a page holds." },
        page_token: { type: "string", description: "Where to go on, from next_page_token of the page before." },
        dry_run: { type: "boolean", description: "Only says what would happen, without doing it." },
      },
      required: [fields[0] ?? "page_size"],
      additionalProperties: false,
    },
  })),
);

/** Tools that every request declares from the start. */
export const CORE_SPECS: readonly ToolSpec[] = ["read_notes", "write_note", "current_time", "ask_user"].map((name) => ({
  name,
  description: `${name.replace("_", " ")}: one of the four tools that every conversation has from its beginning on.`,
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "What it is about, in one sentence." } },
    required: ["text"],
    additionalProperties: false,
  },
}));

/** A tool of a server that is connected between two turns. */
export const LATE_SPEC: ToolSpec = {
  name: "warehouse_stock_level",
  description: "Reads how many pieces of an article each warehouse has. The server was connected in mid-conversation.",
  inputSchema: {
    type: "object",
    properties: {
      article: { type: "string", description: "Article number, as printed on the label." },
      warehouse: { type: "string", enum: ["north", "south", "harbour"], description: "Which warehouse to ask." },
    },
    required: ["article"],
    additionalProperties: false,
  },
};

/** What a call of a tool answers: about 300 tokens of JSON, the same for the same call. */
export function resultOf(name: string, input: unknown): string {
  const rows = Array.from({ length: 6 }, (_, index) => ({
    id: `${name}-${index + 1}-7f3a9c`,
    title: `Entry ${index + 1} that ${name.replaceAll("_", " ")} came to`,
    updated_at: `2026-11-0${index + 1}T09:3${index}:00Z`,
    owner: ["ann", "bob", "cleo"][index % 3],
    status: ["open", "waiting", "closed"][index % 3],
  }));
  return JSON.stringify({ request: input, total: rows.length, rows, next_page_token: null });
}

/** The system prompt, about 1,200 tokens. */
export const SYSTEM = [
  "You are the assistant of a company of four hundred people. You help with calendars, mail, files, tickets, accounts,",
  "invoices, releases and travel, by calling tools. Most tools are not declared from the start: find them by tool_search.",
  ...Array.from(
    { length: 24 },
    (_, index) =>
      `${index + 1}. Rule ${index + 1} of the house: say what you are about to do before you do it, name the people ` +
      `whom it concerns, prefer the smallest change that does what was asked, and quote identifiers as they were given.`,
  ),
].join("\n");

function fieldSchema(field: string, thing: string): object {
  const description = `The ${field.replaceAll("_", " ")} of the ${thing}; leave it out where the user did not say it.`;
  if (field.endsWith("s") && !field.endsWith("_id")) {
    return { type: "array", items: { type: "string" }, maxItems: 50, description };
  }
  if (/amount|rate|limit|threshold|revenue/.test(field)) return { type: "number", minimum: 0, description };
  return { type: "string", maxLength: 500, description };
}
