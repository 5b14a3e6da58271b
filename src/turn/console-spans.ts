import type { Span } from "./span.ts";

/** Writes each span to the console as one line of JSON, which Workers Logs takes apart into fields. */
export function consoleSpans(): (span: Span) => void {
  return function consoleSpans(span) {
    console.log(JSON.stringify({ event: "span", ...span }));
  };
}
