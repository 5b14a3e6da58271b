import { describe, expect, it } from "vitest";
import { checkPure } from "../../scripts/checks/pure.ts";

function messages(path: string, text: string): string[] {
  return checkPure([{ path, text }]).map((problem) => problem.message);
}

describe("pure modules", () => {
  it.each([
    ["Date.now()", "Date.now"],
    ["globalThis.Date.now()", "Date.now"],
    ["run({ clock: Date.now })", "Date.now"],
    ["new Date()", "the date of now"],
    ["Date()", "the date of now"],
    ["Math.random()", "Math.random"],
    ["crypto.randomUUID()", "crypto.randomUUID"],
    ["crypto.getRandomValues(bytes)", "crypto.getRandomValues"],
    ["setTimeout(run, 5)", "setTimeout"],
    ["fetch(url)", "fetch"],
  ])("catch %s", (expression, name) => {
    const text = `export const f = (run, bytes, url) => ${expression};`;
    for (const row of ["catalog", "context", "prefix", "values"]) {
      expect(messages(`src/${row}/a.ts`, text)).toEqual([`${name} in a pure module: pass the value in`]);
    }
  });

  it("may work with times and numbers that they are given", () => {
    expect(
      messages("src/prefix/a.ts", "export const f = (now) => new Date(now).toISOString() + Math.max(1, 2);"),
    ).toEqual([]);
  });

  it("are the ones that design calls pure; others may look at the clock", () => {
    expect(messages("src/session/a.ts", "export const f = () => Date.now();")).toEqual([]);
  });
});
