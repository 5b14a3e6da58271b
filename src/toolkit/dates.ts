import * as z from "zod";

const DAY_MS = 86_400_000;

/** A calendar date as tools take it. */
export const dateInput = z.iso.date("must be a date that exists, as YYYY-MM-DD");

/** Days from one date to another; negative if the other is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** A date so many months and days later. The day of the month is brought down to what the month has: 31 January plus a month is 28 February. */
export function addToDate(date: string, months: number, days: number): string {
  const start = new Date(date);
  const month = start.getUTCMonth() + months;
  const last = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const moved = Date.UTC(start.getUTCFullYear(), month, Math.min(start.getUTCDate(), last)) + days * DAY_MS;
  if (!(moved >= Date.UTC(1000, 0) && moved < Date.UTC(10_000, 0))) {
    throw new Error("The result is not within the years 1000 to 9999.");
  }
  return new Date(moved).toISOString().slice(0, 10);
}

/** The English name of a date's weekday. */
export function weekday(date: string): string {
  return new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(new Date(date));
}
