import fc from "fast-check";
import * as hostile from "./hostile.ts";
import type { Change, Raw, Valid } from "./request.ts";

/** What makes a hostile request of a valid one. `valid` counts the surface's valid requests. */
export interface Drawn {
  readonly valid: number;
  readonly changes: readonly Change[];
  readonly raw: Raw | null;
}

/** Headers that somebody in front of a surface reads. */
const HEADERS = [
  ...["authorization", "content-type", "content-encoding", "content-length", "accept", "origin", "host", "range"],
  ...["x-conversation-id", "x-openwebui-chat-id", "x-session-id", "x-chat-id", "x-request-id", "traceparent"],
  ...["idempotency-key", "x-stainless-retry-count", "last-event-id", "a2a-version", "a2a-extensions", "if-match"],
];

const QUERIES = [
  "limit",
  "after",
  "cursor",
  "historyLength",
  "pageSize",
  "pageToken",
  "contextId",
  "status",
  "__proto__",
];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

const at = fc.nat(200);

const around: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("query"), name: fc.constantFrom(...QUERIES), value: hostile.queryValue }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("header"),
      name: fc.constantFrom(...HEADERS),
      value: hostile.headerValue,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("segment"), at, text: hostile.text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("method"), method: fc.constantFrom(...METHODS) }) },
);

const raw: fc.Arbitrary<Raw> = fc.oneof(
  fc.record({ kind: fc.constant("bytes"), bytes: fc.uint8Array({ maxLength: 40 }) }),
  fc.record({ kind: fc.constant("text"), text: fc.oneof(hostile.text, fc.json()) }),
  fc.record({ kind: fc.constant("truncated"), share: fc.double({ min: 0, max: 0.99, noNaN: true }) }),
  fc.record({
    kind: fc.constant("around"),
    before: fc.constantFrom("", "\ufeff", "data: ", "[", "{}"),
    after: fc.constantFrom("", "\u0000", "}", ",", "\n{}", "x".repeat(5_000_000)),
  }),
);

/** Hostile requests made of these valid ones. `fields` are the names of a body's members that the surface knows. */
export function drawn(valid: readonly Valid[], fields: readonly string[]): fc.Arbitrary<Drawn> {
  const key = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fields) }, { weight: 1, arbitrary: hostile.text });
  const inBody: fc.Arbitrary<Change> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("replace"), at, value: hostile.value }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("insert"), at, text: hostile.text }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("member"), at, key, value: hostile.value }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop"), at, which: at }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("twice"), at, which: at, value: hostile.value }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("many"), at, times: fc.constantFrom(2, 3, 50, 1_500) }) },
  );
  const change = fc.oneof({ weight: 5, arbitrary: inBody }, { weight: 1, arbitrary: around });
  const kinds = [
    { has: valid.flatMap(({ body }, index) => (body === undefined ? [] : [index])), change, raws: raw },
    {
      has: valid.flatMap(({ body }, index) => (body === undefined ? [index] : [])),
      change: around,
      raws: fc.constant(null),
    },
  ];
  return fc.oneof(
    ...kinds
      .filter(({ has }) => has.length > 0)
      .flatMap(({ has, change, raws }) => {
        const which = fc.constantFrom(...has);
        const changed = fc.array(change, { minLength: 1, maxLength: 3 });
        const broken = fc.array(around, { minLength: 1, maxLength: 1 });
        return [
          { weight: 9 * has.length, arbitrary: fc.record({ valid: which, changes: changed, raw: fc.constant(null) }) },
          { weight: has.length, arbitrary: fc.record({ valid: which, changes: broken, raw: raws }) },
        ];
      }),
  );
}
