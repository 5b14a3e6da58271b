import { changedAt, isList, type Json, jsonOf, type Member, places, textOf } from "./json-text.ts";

/** A request that is answered, from which hostile ones are made. */
export interface Valid {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** One place in which a request differs from a valid one. `at` counts the places that fit, and starts over at their end. */
export type Change =
  | { readonly kind: "replace"; readonly at: number; readonly value: Json }
  | { readonly kind: "insert"; readonly at: number; readonly text: string }
  | { readonly kind: "drop"; readonly at: number; readonly which: number }
  | { readonly kind: "member"; readonly at: number; readonly key: string; readonly value: Json }
  | { readonly kind: "twice"; readonly at: number; readonly which: number; readonly value: Json }
  | { readonly kind: "many"; readonly at: number; readonly times: number }
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  | { readonly kind: "segment"; readonly at: number; readonly text: string }
  | { readonly kind: "query"; readonly name: string; readonly value: string }
  | { readonly kind: "method"; readonly method: string };

/** What takes the place of a body that would be JSON. */
export type Raw =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "text"; readonly text: string }
  /** The valid body up to there, a share of its length. */
  | { readonly kind: "truncated"; readonly share: number }
  | { readonly kind: "around"; readonly before: string; readonly after: string };

/** A request as it goes out. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** The valid request with those changes, and with the last tenth's raw body. */
export function hostile(valid: Valid, changes: readonly Change[], raw: Raw | null): Sent {
  let { method, path } = valid;
  const headers: Record<string, string> = { "content-type": "application/json", ...valid.headers };
  let body: Json | null = valid.body === undefined ? null : jsonOf(valid.body);
  for (const change of changes) {
    switch (change.kind) {
      case "header":
        headers[change.name] = change.value;
        break;
      case "segment":
        path = withSegment(path, change.at, change.text);
        break;
      case "query":
        // Before what is there: where a name stands twice, the first one counts.
        path = path.replace(/\?|$/, `?${change.name}=${inUrl(change.value)}&`);
        break;
      case "method":
        method = change.method;
        break;
      default:
        body = body === null ? null : changedBody(body, change);
    }
  }
  const text = body === null ? null : textOf(body);
  return { method, path, headers, body: raw === null ? text : rawBody(text ?? "", raw) };
}

type BodyChange = Exclude<Change, { kind: "header" | "segment" | "query" | "method" }>;

function changedBody(body: Json, change: BodyChange): Json {
  switch (change.kind) {
    case "replace":
      return at(
        body,
        change.at,
        () => true,
        () => change.value,
      );
    case "insert":
      return at(body, change.at, isText, (value) => {
        const text = String(value);
        return text.slice(0, text.length / 2) + change.text + text.slice(text.length / 2);
      });
    case "drop":
      return members(body, change.at, (list) => list.filter((_, index) => index !== change.which % list.length));
    case "member":
      return members(body, change.at, (list) => [...list, [change.key, change.value]]);
    case "twice":
      return members(body, change.at, (list) => {
        const [key] = list[change.which % Math.max(1, list.length)] ?? ["__proto__"];
        return change.which % 2 === 0 ? [...list, [key, change.value]] : [[key, change.value], ...list];
      });
    case "many":
      return at(body, change.at, isList, (list) =>
        isList(list) ? list.flatMap((one) => Array.from({ length: change.times }, () => one)) : list,
      );
  }
}

function members(body: Json, n: number, change: (members: readonly Member[]) => readonly Member[]): Json {
  const isObject = (value: Json) => typeof value === "object" && value !== null && "members" in value;
  return at(body, n, isObject, (value) =>
    typeof value === "object" && value !== null && "members" in value ? { members: change(value.members) } : value,
  );
}

function at(body: Json, n: number, fits: (value: Json) => boolean, change: (value: Json) => Json): Json {
  const fitting = places(body).flatMap((value, place) => (fits(value) ? [place] : []));
  const place = fitting[n % Math.max(1, fitting.length)];
  return place === undefined ? body : changedAt(body, place, change);
}

function isText(value: Json): boolean {
  return typeof value === "string";
}

function withSegment(path: string, n: number, text: string): string {
  const [pathname = "", query] = path.split("?");
  const segments = pathname.split("/").slice(1);
  segments[n % segments.length] = inUrl(text);
  return `/${segments.join("/")}${query === undefined ? "" : `?${query}`}`;
}

/** As it may stand in a URL. What no URL can hold stands there as the bytes that a careless client would send. */
function inUrl(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : `%ED%A0%80${encodeURIComponent(text.toWellFormed())}`;
}

function rawBody(valid: string, raw: Raw): string | Uint8Array {
  switch (raw.kind) {
    case "bytes":
      return raw.bytes;
    case "text":
      return raw.text;
    case "truncated":
      return valid.slice(0, Math.floor(valid.length * raw.share));
    case "around":
      return `${raw.before}${valid}${raw.after}`;
  }
}
