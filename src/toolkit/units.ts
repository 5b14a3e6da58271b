interface Unit {
  readonly kind: string;
  /** How a value of this unit becomes one of the kind's base unit: times `factor`, then plus `offset`. */
  readonly factor: number;
  readonly offset: number;
  readonly symbol: string;
  readonly names: readonly string[];
}

function unit(kind: string, factor: number, symbol: string, names: string, offset = 0): Unit {
  return { kind, factor, offset, symbol, names: [symbol, ...names.split(" ").filter((name) => name !== "")] };
}

const UNITS: readonly Unit[] = [
  unit("length", 1, "m", "metre meter"),
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
  unit("mass", 1000, "t", "tonne metric_ton"),
  unit("mass", 0.028_349_523_125, "oz", "ounce"),
  unit("mass", 0.453_592_37, "lb", "lbs pound"),
  unit("mass", 6.350_293_18, "st", "stone"),
  unit("temperature", 1, "K", "kelvin"),
  unit("temperature", 1, "°C", "C celsius centigrade", 273.15),
  unit("temperature", 5 / 9, "°F", "F fahrenheit", 273.15 - (32 * 5) / 9),
  unit("volume", 1, "L", "l litre liter"),
  unit("volume", 0.001, "mL", "ml millilitre milliliter"),
  unit("volume", 1000, "m³", "m3 cubic_metre cubic_meter"),
  unit("volume", 3.785_411_784, "gal", "gallon us_gallon"),
  unit("volume", 4.546_09, "imp gal", "imperial_gallon"),
  unit("volume", 0.473_176_473, "pt", "pint"),
  unit("volume", 0.236_588_236_5, "cup", ""),
  unit("volume", 0.029_573_529_562_5, "fl oz", "floz fluid_ounce"),
  unit("area", 1, "m²", "m2 square_metre square_meter"),
  unit("area", 1e6, "km²", "km2 square_kilometre square_kilometer"),
  unit("area", 10_000, "ha", "hectare"),
  unit("area", 4046.856_422_4, "ac", "acre"),
  unit("area", 0.092_903_04, "ft²", "ft2 sqft square_foot square_feet"),
  unit("speed", 1, "m/s", "mps"),
  unit("speed", 1000 / 3600, "km/h", "kmh kph"),
  unit("speed", 0.447_04, "mph", ""),
  unit("speed", 1852 / 3600, "kn", "knot"),
  unit("time", 1, "s", "sec second"),
  unit("time", 0.001, "ms", "millisecond"),
  unit("time", 60, "min", "minute"),
  unit("time", 3600, "h", "hr hour"),
  unit("time", 86_400, "d", "day"),
  unit("time", 604_800, "wk", "week"),
  unit("data", 1, "B", "byte"),
  unit("data", 0.125, "bit", ""),
  unit("data", 1e3, "kB", "KB kilobyte"),
  unit("data", 1e6, "MB", "megabyte"),
  unit("data", 1e9, "GB", "gigabyte"),
  unit("data", 1e12, "TB", "terabyte"),
  unit("data", 1024, "KiB", "kibibyte"),
  unit("data", 1024 ** 2, "MiB", "mebibyte"),
  unit("data", 1024 ** 3, "GiB", "gibibyte"),
  unit("energy", 1, "J", "joule"),
  unit("energy", 1000, "kJ", "kilojoule"),
  unit("energy", 4184, "kcal", "kilocalorie calorie"),
  unit("energy", 3_600_000, "kWh", "kilowatt_hour"),
  unit("pressure", 1, "Pa", "pascal"),
  unit("pressure", 100_000, "bar", ""),
  unit("pressure", 101_325, "atm", "atmosphere"),
  unit("pressure", 6894.757_293_168, "psi", ""),
];

/** Finds a unit by symbol or name, letter case counting first; a plural s may follow. Throws if there is none. */
export function findUnit(text: string): Unit {
  const name = text
    .trim()
    .replaceAll(/\s+/g, "_")
    .replace(/^degrees?_/i, "");
  const spellings = [name, name.replace(/s$/, "")];
  const exact = UNITS.find((known) => spellings.some((spelling) => known.names.includes(spelling)));
  const lower = spellings.map((spelling) => spelling.toLowerCase());
  const found = exact ?? UNITS.find((known) => known.names.some((other) => lower.includes(other.toLowerCase())));
  if (found === undefined) throw new Error(`The unit "${text}" is not known.`);
  return found;
}

/** A value in another unit of the same kind. Throws if the two units measure different things. */
export function convertUnit(value: number, from: Unit, to: Unit): number {
  if (from.kind !== to.kind) {
    throw new Error(`${from.symbol} is a unit of ${from.kind}, ${to.symbol} one of ${to.kind}.`);
  }
  return (value * from.factor + from.offset - to.offset) / to.factor;
}
