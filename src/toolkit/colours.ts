/** Red, green and blue from 0 to 255. */
export interface Rgb {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

const NAMES =
  "aqua 00ffff black 000000 blue 0000ff brown a52a2a coral ff7f50 crimson dc143c cyan 00ffff fuchsia ff00ff " +
  "gold ffd700 gray 808080 green 008000 grey 808080 indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa " +
  "lime 00ff00 magenta ff00ff maroon 800000 navy 000080 olive 808000 orange ffa500 orchid da70d6 pink ffc0cb " +
  "plum dda0dd purple 800080 red ff0000 salmon fa8072 silver c0c0c0 tan d2b48c teal 008080 tomato ff6347 " +
  "turquoise 40e0d0 violet ee82ee white ffffff yellow ffff00";
const NAMED: ReadonlyMap<string, string> = new Map(
  [...NAMES.matchAll(/(\w+) (\w{6})/g)].map(([, name = "", hex = ""]) => [name, hex]),
);

/** Reads `#f80`, `#ff8800`, `rgb(255, 136, 0)`, `hsl(32, 100%, 50%)` or a common name. Throws for anything else. */
export function parseColour(text: string): Rgb {
  const given = text.trim().toLowerCase();
  const hex = NAMED.get(given) ?? /^#?([0-9a-f]{3}|[0-9a-f]{6})$/.exec(given)?.[1];
  if (hex !== undefined) return fromHexDigits(hex.length === 3 ? hex.replaceAll(/./g, "$&$&") : hex);
  const [, kind, inside = ""] = /^(rgb|hsl)\(([^)]*)\)$/.exec(given) ?? [];
  const parts = inside.trim().split(/\s*,\s*|\s+/);
  const [a, b, c] =
    kind === "rgb" ? parts.map(channel) : parts.map((part, at) => (at === 0 ? angle(part) : share(part)));
  if (parts.length === 3 && a !== undefined && b !== undefined && c !== undefined) {
    if (kind === "rgb") return { r: a, g: b, b: c };
    if (kind === "hsl") return fromHsl(a, b, c);
  }
  throw new Error(`"${text}" is not a colour; write it like #ff8800, rgb(255, 136, 0), hsl(32, 100%, 50%) or orange.`);
}

const NUMBER = /^([+-]?(?:\d+(?:\.\d+)?|\.\d+))(%|deg)?$/;

/** `136` or `53.3%` as a whole number from 0 to 255; undefined for anything else. */
function channel(text: string): number | undefined {
  const [, number, unit] = NUMBER.exec(text) ?? [];
  const value = unit === "%" ? (Number(number) * 255) / 100 : Number(number);
  return unit === "deg" || !(value >= 0 && value <= 255) ? undefined : Math.round(value);
}

/** `50%` or `50` as 0.5; undefined for anything else. */
function share(text: string): number | undefined {
  const [, number, unit] = NUMBER.exec(text) ?? [];
  const value = Number(number) / 100;
  return unit === "deg" || !(value >= 0 && value <= 1) ? undefined : value;
}

/** `32` or `32deg` as 32; undefined for anything else. */
function angle(text: string): number | undefined {
  const [, number, unit] = NUMBER.exec(text) ?? [];
  return number === undefined || unit === "%" ? undefined : Number(number);
}

/** A colour as `#rrggbb`. */
export function toHexColour({ r, g, b }: Rgb): string {
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** A colour as hue in degrees, saturation and lightness in per cent, rounded. */
export function toHsl(colour: Rgb): { h: number; s: number; l: number } {
  const [r, g, b] = [colour.r / 255, colour.g / 255, colour.b / 255];
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const range = most - least;
  const l = (most + least) / 2;
  const s = range === 0 ? 0 : range / (1 - Math.abs(2 * l - 1));
  return { h: Math.round(hue(r, g, b, most, range)) % 360, s: Math.round(s * 100), l: Math.round(l * 100) };
}

function hue(r: number, g: number, b: number, most: number, range: number): number {
  if (range === 0) return 0;
  if (most === r) return 60 * (((g - b) / range + 6) % 6);
  return most === g ? 60 * ((b - r) / range + 2) : 60 * ((r - g) / range + 4);
}

function fromHexDigits(hex: string): Rgb {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return { r: part(0), g: part(2), b: part(4) };
}

function fromHsl(h: number, s: number, l: number): Rgb {
  const strength = s * Math.min(l, 1 - l);
  const part = (n: number) => {
    const k = (n + (((h % 360) + 360) % 360) / 30) % 12;
    return Math.round(255 * (l - strength * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return { r: part(0), g: part(8), b: part(4) };
}
