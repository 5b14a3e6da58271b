export interface Unit {
  readonly kind: string;
  /** How a value of this unit becomes one of the kind's base unit: plus `shift`, then times `factor`. */
  readonly factor: number;
  readonly shift: number;
  readonly symbol: string;
  /** In the form of {@link plain}, the symbol among them. */
  readonly names: readonly string[];
}

function unit(kind: string, factor: number, symbol: string, names: string, shift = 0): Unit {
  return { kind, factor, shift, symbol, names: [symbol, ...names.split(" ").filter((name) => name !== "")].map(plain) };
}

/** One spelling for several: `fl. oz`, `fl oz` and `fl_oz`; `m²` and `m2`; both of Unicode's `µ`. */
function plain(text: string): string {
  return text
    .normalize("NFKC")
    .trim()
    .replaceAll(".", "")
    .replaceAll(/[\s_-]+/g, "_");
}

/** All that are known. */
export const UNITS: readonly Unit[] = [
  unit("length", 1, "m", "metre meter"),
  unit("length", 1e6, "Mm", "megametre megameter"),
  unit("length", 1e-9, "nm", "nanometre nanometer"),
  unit("length", 1e-6, "µm", "um micrometre micrometer micron"),
  unit("length", 0.001, "mm", "millimetre millimeter"),
  unit("length", 0.01, "cm", "centimetre centimeter"),
  unit("length", 1000, "km", "kilometre kilometer"),
  unit("length", 0.0254, "in", "inch inches"),
  unit("length", 0.3048, "ft", "foot feet"),
  unit("length", 0.9144, "yd", "yard"),
  unit("length", 1609.344, "mi", "mile"),
  unit("length", 1852, "nmi", "nautical_mile"),
  unit("length", 9_460_730_472_580_800, "ly", "light_year lightyear"),
  unit("mass", 1, "kg", "kilogram kilo"),
  unit("mass", 1e-6, "mg", "milligram"),
  unit("mass", 0.001, "g", "gram"),
  unit("mass", 1000, "t", "Mg tonne metric_ton megagram"),
  unit("mass", 0.028_349_523_125, "oz", "ounce"),
  unit("mass", 0.453_592_37, "lb", "lbs pound"),
  unit("mass", 6.350_293_18, "st", "stone"),
  unit("temperature", 1, "K", "kelvin"),
  unit("temperature", 1, "°C", "C celsius centigrade", 273.15),
  unit("temperature", 5 / 9, "°F", "F fahrenheit", 459.67),
  unit("volume", 1, "L", "l litre liter"),
  unit("volume", 0.001, "mL", "ml millilitre milliliter"),
  unit("volume", 1e6, "ML", "megalitre megaliter"),
  unit("volume", 1000, "m³", "m3 cubic_metre cubic_meter"),
  unit("volume", 3.785_411_784, "gal", "gallon us_gallon"),
  unit("volume", 4.546_09, "imp gal", "imperial_gallon"),
  unit("volume", 0.473_176_473, "pt", "pint"),
  unit("volume", 0.236_588_236_5, "cup", ""),
  unit("volume", 0.029_573_529_562_5, "fl oz", "floz fluid_ounce us_fluid_ounce"),
  unit("area", 1, "m²", "m2 square_metre square_meter"),
  unit("area", 1e6, "km²", "km2 square_kilometre square_kilometer"),
  unit("area", 10_000, "ha", "hectare"),
  unit("area", 4046.856_422_4, "ac", "acre"),
  unit("area", 0.092_903_04, "ft²", "ft2 sqft square_foot square_feet"),
  unit("speed", 1, "m/s", "mps metre_per_second meter_per_second"),
  unit("speed", 1000 / 3600, "km/h", "kmh kph kilometre_per_hour kilometer_per_hour"),
  unit("speed", 0.447_04, "mph", "mile_per_hour mi/h"),
  unit("speed", 1852 / 3600, "kn", "knot"),
  unit("time", 1, "s", "sec second"),
  unit("time", 0.001, "ms", "millisecond"),
  unit("time", 60, "min", "minute"),
  unit("time", 3600, "h", "hr hour"),
  unit("time", 86_400, "d", "day"),
  unit("time", 604_800, "wk", "week"),
  unit("data", 1, "B", "byte"),
  unit("data", 0.125, "bit", "b"),
  unit("data", 125, "kbit", "kb kilobit"),
  unit("data", 125e3, "Mbit", "Mb megabit"),
  unit("data", 125e6, "Gbit", "Gb gigabit"),
  unit("data", 125e9, "Tbit", "Tb terabit"),
  unit("data", 1e3, "kB", "KB kilobyte"),
  unit("data", 1e6, "MB", "megabyte"),
  unit("data", 1e9, "GB", "gigabyte"),
  unit("data", 1e12, "TB", "terabyte"),
  unit("data", 1024, "KiB", "kibibyte"),
  unit("data", 1024 ** 2, "MiB", "mebibyte"),
  unit("data", 1024 ** 3, "GiB", "gibibyte"),
  unit("data", 1024 ** 4, "TiB", "tebibyte"),
  unit("energy", 1, "J", "joule"),
  unit("energy", 1000, "kJ", "kilojoule"),
  unit("energy", 4.184, "cal", "calorie small_calorie"),
  // With a capital it is the one on food.
  unit("energy", 4184, "kcal", "Cal Calorie kilocalorie food_calorie large_calorie"),
  unit("energy", 3_600_000, "kWh", "kilowatt_hour"),
  unit("pressure", 1, "Pa", "pascal"),
  unit("pressure", 100_000, "bar", ""),
  unit("pressure", 101_325, "atm", "atmosphere"),
  unit("pressure", 6894.757_293_168, "psi", ""),
];

/**
 * Finds a unit by symbol or name, a plural s allowed. Letter case counts (Mb is not MB) and may be wrong where only one
 * unit can be meant. Throws if there is none, or more than one.
 */
export function findUnit(text: string): Unit {
  const name = plain(text).replace(/^degrees?_/i, "");
  const spellings = [name, name.replace(/s$/, ""), name.replaceAll(/s(?=_|$)/g, "")];
  for (const spelling of spellings) {
    const exact = UNITS.find((known) => known.names.includes(spelling));
    if (exact !== undefined) return exact;
  }
  const lower = spellings.map((spelling) => spelling.toLowerCase());
  const [found, ...others] = UNITS.filter((known) => known.names.some((other) => lower.includes(other.toLowerCase())));
  if (found === undefined) throw new Error(`The unit "${text}" is not known.`);
  if (others.length > 0) {
    const symbols = [found, ...others].map(({ symbol }) => symbol).join(" or ");
    throw new Error(`The unit "${text}" may be ${symbols}; write it with the right capitals.`);
  }
  return found;
}

/** A value in another unit of the same kind. Throws if the two units measure different things, or nothing can be so cold. */
export function convertUnit(value: number, from: Unit, to: Unit): number {
  if (from.kind !== to.kind) {
    throw new Error(`${from.symbol} is a unit of ${from.kind}, ${to.symbol} one of ${to.kind}.`);
  }
  const base = (value + from.shift) * from.factor;
  if (from.kind !== "temperature") return base / to.factor;
  if (base < -1e-9) throw new Error(`${value} ${from.symbol} is below absolute zero.`);
  // The zeros of the scales lie hundreds of degrees apart, so what is left of a difference beyond this is noise.
  const result = base / to.factor - to.shift;
  return Math.abs(result) < 1e6 ? Number(result.toFixed(9)) : result;
}
