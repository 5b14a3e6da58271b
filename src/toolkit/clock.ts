import * as z from "zod";
import { defineTool } from "../define/tool.ts";

/** What time it is, anywhere. */
export const clock = defineTool({
  name: "clock",
  description: "Tells the current date and time in a time zone.",
  risk: "read",
  idempotent: true,
  input: z.object({
    timeZone: z.string().default("UTC").describe('IANA name, such as "Europe/Berlin" or "UTC".'),
  }),
  execute: ({ timeZone }) => timeIn(timeZone, new Date()),
});

/** A moment in a time zone: `2026-03-01T14:05:09+01:00` and its weekday. Throws for a zone that does not exist. */
export function timeIn(timeZone: string, now: Date) {
  const parts = new Map(
    formatter(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
  const date = `${part("year")}-${part("month")}-${part("day")}`;
  const time = `${part("hour")}:${part("minute")}:${part("second")}`;
  return { time: `${date}T${time}${offset}`, weekday: part("weekday"), timeZone };
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-GB", {
      timeZone,
      weekday: "long",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    });
  } catch {
    throw new Error(`"${timeZone}" is not an IANA time zone; write it like "Europe/Berlin".`);
  }
}
