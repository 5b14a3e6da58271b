import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { convertUnit, findUnit } from "./units.ts";

/** From one unit of measure to another. */
export const convertUnits = defineTool({
  name: "convert_units",
  description:
    "Converts a measure between units of length (miles, km, feet, inches), mass (pounds, kg), temperature (celsius, " +
    "fahrenheit, kelvin), volume (litres, gallons), area, speed, time, data size, energy and pressure.",
  risk: "read",
  idempotent: true,
  input: z.object({
    value: z.number().describe("The number to convert."),
    from: z.string().min(1).max(40).describe('Unit it is in, such as "mi", "pounds" or "celsius".'),
    to: z.string().min(1).max(40).describe("Unit wanted."),
  }),
  execute({ value, from, to }) {
    const [source, target] = [findUnit(from), findUnit(to)];
    const converted = convertUnit(value, source, target);
    if (!Number.isFinite(converted)) throw new Error("The result is too large.");
    // Ten digits read well; a larger number keeps all that a float holds, so that no whole number changes.
    const result = Number(converted.toPrecision(Math.abs(converted) < 1e9 ? 10 : 15));
    return `${value} ${source.symbol} = ${result} ${target.symbol}`;
  },
});
