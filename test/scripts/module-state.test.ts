import { describe, expect, it } from "vitest";
import { type Allowed, checkModuleState } from "../../scripts/checks/module-state.ts";

function messages(text: string, allowed: readonly Allowed[] = []): string[] {
  return checkModuleState([{ path: "src/turn/run.ts", text }], allowed).map((problem) => problem.message);
}

describe("module state", () => {
  it.each([
    ["let count = 0;", "count is a module-level let"],
    ["export let count = 0;", "count is a module-level let"],
    ["var count = 0;", "count is a module-level var"],
    ["const cache = new Map();", "cache holds a Map without a read-only type"],
    ["const cache: Map<string, string> = new Map();", "cache holds a Map without a read-only type"],
    ["const owners = new WeakMap<object, string>();", "owners holds a WeakMap without a read-only type"],
    ["export default { cache: new Set() };", "default holds a Set without a read-only type"],
    ["const queue = new Queue();", "queue holds a Queue, which may keep state"],
    ["class Turn { static count = 0; }", "Turn.count is a static field that can change"],
    ["export class Turn { static readonly #all = new Set(); }", "Turn.all holds a Set without a read-only type"],
  ])("catches %s", (text, message) => {
    expect(messages(text)).toEqual([message]);
  });

  it.each([
    ["an index", "const table = {}; export function f(k) { table[k] = 1; }"],
    ["a field below", "const table = { a: { n: 0 } }; export const f = () => { table.a!.n++; }"],
    ["a method", "const table: string[] = []; export function f(x) { table.push(x); }"],
    ["a method further down", "const table = { list: [] }; const f = (x) => table.list.push(x);"],
    ["delete", "const table = {}; function f(k) { delete table[k]; }"],
    ["a pattern", "const table = {}; function f(x) { ({ n: table.n } = x); }"],
    ["a loop", "const table = {}; function f(xs) { for (table.n of xs) {} }"],
    ["assign", "const table = {}; function f(x) { Object.assign(table, x); }"],
    ["a class's method", "const table = {}; class A { f() { table.n = 1; } }"],
    ["a frozen shell", "const table = Object.freeze({ list: [] }); function f(x) { table.list.push(x); }"],
    ["a cast", "const table = {} as Record<string, number>; function f(k) { (table as any)[k] = 1; }"],
    ["another module's constant", `import { table } from "./table.ts"; function f(k) { table[k] = 1; }`],
    ["a pattern's position", "const table = /x/g; function f(s) { return table.test(s); }"],
  ])("catches a constant that a function changes: %s", (_, text) => {
    expect(messages(text)).toEqual(["table is changed, and the module holds it"]);
  });

  it("catches a change of a global", () => {
    expect(messages("export function f(x) { globalThis.session = x; }")).toEqual([
      "globalThis is changed: a global is everybody's",
    ]);
  });

  it.each([
    ["a constant", "const LIMIT = 4; const PATTERN = /^x$/; const NAMES = ['a', 'b'] as const;"],
    ["a read-only collection", "const NAMES: ReadonlySet<string> = new Set(['a']);"],
    [
      "a collection in a typed table",
      "const FACTS: Readonly<Record<string, Facts>> = { a: { refuses: new Set(['b']) } };",
    ],
    ["a stateless helper", "const encoder = new TextEncoder(); const plural = new Intl.PluralRules('en');"],
    [
      "what a function makes for itself",
      "export function f() { let n = 0; const seen = new Map(); seen.set(1, n++); return seen; }",
    ],
    [
      "a local of the same name",
      "const table = {}; function f(table) { table.n = 1; } function g() { const table = []; table.push(1); }",
    ],
    ["a local in a block", "const table = {}; function f(xs) { for (const table of xs) { table.n = 1; } }"],
    ["a local from a pattern", "const table = {}; const f = ({ a: [table] }) => { table.n = 1; };"],
    ["fields of an instance", "class Turn { #count = 0; step() { this.#count += 1; } }"],
    ["a declaration", "declare let self: unknown;"],
    ["a position that starts afresh", "const table = /x/g; const f = (s) => s.replace(table, '');"],
  ])("allows %s", (_, text) => {
    expect(messages(text)).toEqual([]);
  });

  it("reads the allow-list, and says which of its entries nothing needs", () => {
    const allowed = [{ path: "src/turn/run.ts", name: "count", reason: "a test" }];
    expect(messages("let count = 0;", allowed)).toEqual([]);
    expect(messages("const count = 0;", allowed)).toEqual(["count needs no place on the allow-list any more"]);
  });
});
