import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { parseColour, toHexColour, toHsl } from "./colours.ts";

/** A colour in every notation. */
export const convertColour = defineTool({
  name: "convert_colour",
  description: "Converts a colour (color) between hex, RGB and HSL notation; knows common colour names.",
  risk: "read",
  idempotent: true,
  input: z.object({
    colour: z.string().max(60).describe('Such as "#ff8800", "rgb(255, 136, 0)", "hsl(32, 100%, 50%)" or "orange".'),
  }),
  execute({ colour }) {
    const rgb = parseColour(colour);
    const { h, s, l } = toHsl(rgb);
    return { hex: toHexColour(rgb), rgb: `rgb(${rgb.r}, ${rgb.g}, ${rgb.b})`, hsl: `hsl(${h}, ${s}%, ${l}%)` };
  },
});
