import * as z from "zod";

const DAY_MS = 86_400_000;

/** A calendar date as tools take it. */
export const dateInput = z.iso
  .date("must be a date that exists, as YYYY-MM-DD")
  .refine((date) => !date.startsWith("0000"), "must be a date of the years 1 to 9999");

/** Days from one date to another; negative if the other is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** A date so many months and days later. The day of the month is brought down to what the month has: 31 January plus a month is 28 February. */
export function addToDate(date: string, months: number, days: number): string {
  const start = new Date(date);
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months];
  const last = new Date(dayMs(year, month + 1, 0)).getUTCDate();
  const moved = dayMs(year, month, Math.min(start.getUTCDate(), last)) + days * DAY_MS;
  if (!(moved >= dayMs(1, 0, 1) && moved < dayMs(10_000, 0, 1))) {
    throw new Error("The result is not within the years 1 to 9999.");
  }
  return new Date(moved).toISOString().slice(0, 10);
}

/** As `Date.UTC`, which takes the years 0 to 99 for those of the 20th century. */
function dayMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** The English name of a date's weekday. */
export function weekday(date: string): string {
  return new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(new Date(date));
}
