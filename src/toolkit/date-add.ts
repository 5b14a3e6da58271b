import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { addToDate, dateInput, weekday } from "./dates.ts";

const amount = z.int().min(-100_000).max(100_000).default(0);

/** The date some time before or after another. */
export const dateAdd = defineTool({
  name: "date_add",
  description: "Adds days, weeks, months or years to a date, or takes them off, and tells the weekday of the result.",
  risk: "read",
  idempotent: true,
  input: z.object({
    date: dateInput.describe("Date to start from, YYYY-MM-DD."),
    days: amount.describe("Days to add; negative to go back."),
    weeks: amount.describe("Weeks to add."),
    months: amount.describe("Months to add. A day that the month lacks becomes its last day."),
    years: amount.describe("Years to add."),
  }),
  execute({ date, days, weeks, months, years }) {
    const result = addToDate(date, months + 12 * years, days + 7 * weeks);
    return { date: result, weekday: weekday(result) };
  },
});
