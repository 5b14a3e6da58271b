import { isExactNumber } from "./exact-json.ts";

/** Errors name what is there, however long it is. */
const MOST_SHOWN = 500;

const STEP =
  /\.?([A-Za-z_$][\w$-]*)|\[(-?\d+)\]|\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]|\.?\*|\[\*\]|(?<other>.)/gs;

type Step = { readonly key: string } | { readonly index: number } | "every";

/**
 * Reads a small JSON path: `$.orders[0].items[*].name`, `["a key"]`, `[-1]` from the end, `*` for every value. With a
 * `*` the answer is the list of all that match; without one it is the value itself. Throws if a step leads nowhere.
 */
export function readJsonPath(value: unknown, path: string): unknown {
  const steps = parsePath(path);
  const found = follow(value, steps, "$");
  return steps.includes("every") ? found : found[0];
}

function parsePath(path: string): Step[] {
  const text = path.trim().replace(/^\$/, "");
  return [...text.matchAll(STEP)].map((match): Step => {
    if (match.groups?.other !== undefined) {
      throw new Error(`The path can't be read from "${text.slice(match.index, match.index + 20)}" on.`);
    }
    const [, key, index, double, single] = match;
    const quoted = double ?? single;
    if (key !== undefined) return { key };
    if (index !== undefined) return { index: Number(index) };
    return quoted === undefined ? "every" : { key: quoted.replaceAll(/\\(.)/g, "$1") };
  });
}

function follow(value: unknown, steps: readonly Step[], at: string): unknown[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [value];
  if (typeof value !== "object" || value === null || isExactNumber(value))
    throw new Error(`${at} is ${short(JSON.stringify(value))}, nothing to look into.`);
  if (step === "every") return Object.entries(value).flatMap(([key, item]) => follow(item, rest, `${at}.${key}`));
  if ("index" in step) {
    if (!Array.isArray(value)) throw new Error(`${at} is not a list.`);
    const index = step.index < 0 ? value.length + step.index : step.index;
    if (index < 0 || index >= value.length) throw new Error(`${at} has ${value.length} items, none at ${step.index}.`);
    return follow(value[index], rest, `${at}[${index}]`);
  }
  const entry = Object.entries(value).find(([key]) => key === step.key);
  if (entry === undefined) {
    throw new Error(
      `${at} has no "${step.key}"; it has ${short(Object.keys(value).slice(0, 20).join(", ")) || "nothing"}.`,
    );
  }
  return follow(entry[1], rest, `${at}.${step.key}`);
}

function short(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}
