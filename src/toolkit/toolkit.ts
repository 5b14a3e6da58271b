import { calculator } from "./calculator.ts";
import { clock } from "./clock.ts";
import { compareText } from "./compare-text.ts";
import { convertBase } from "./convert-base.ts";
import { convertColour } from "./convert-colour.ts";
import { convertUnits } from "./convert-units.ts";
import { dateAdd } from "./date-add.ts";
import { dateDifference } from "./date-difference.ts";
import { encodeText } from "./encode-text.ts";
import { generateUuid } from "./generate-uuid.ts";
import { hashText } from "./hash-text.ts";
import { queryJson } from "./query-json.ts";
import { random } from "./random.ts";
import { romanNumerals } from "./roman-numerals.ts";
import { slugify } from "./slugify.ts";
import { sortLines } from "./sort-lines.ts";
import { statistics } from "./statistics.ts";
import { textStatistics } from "./text-statistics.ts";

/** What almost every conversation may need. */
export const everyday = [clock, calculator, random];

/** What is worth its definition only when it is asked for. */
export const occasional = [
  convertUnits,
  convertColour,
  convertBase,
  romanNumerals,
  dateDifference,
  dateAdd,
  textStatistics,
  compareText,
  sortLines,
  slugify,
  encodeText,
  hashText,
  generateUuid,
  queryJson,
  statistics,
];
