import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { addToDate, dateInput, daysBetween } from "./dates.ts";

/** How far apart two dates are. */
export const dateDifference = defineTool({
  name: "date_difference",
  description: "Counts the days, weeks, months and years between two dates, for ages, deadlines and countdowns.",
  risk: "read",
  idempotent: true,
  input: z.object({
    from: dateInput.describe("First date, YYYY-MM-DD."),
    to: dateInput.describe("Second date, YYYY-MM-DD."),
  }),
  execute({ from, to }) {
    const days = daysBetween(from, to);
    const [early, late] = days < 0 ? [to, from] : [from, to];
    let months = (Number(late.slice(0, 4)) - Number(early.slice(0, 4))) * 12;
    months += Number(late.slice(5, 7)) - Number(early.slice(5, 7));
    if (daysBetween(addToDate(early, months, 0), late) < 0) months -= 1;
    return {
      days,
      weeks: { weeks: Math.floor(Math.abs(days) / 7), days: Math.abs(days) % 7 },
      calendar: {
        years: Math.floor(months / 12),
        months: months % 12,
        days: daysBetween(addToDate(early, months, 0), late),
      },
    };
  },
});
