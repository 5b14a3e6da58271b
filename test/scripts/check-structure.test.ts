import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../scripts/check-structure.ts");

describe("npm run check", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-structure-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  function check(): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, root], { encoding: "utf8" });
    return { status, output: stdout + stderr };
  }

  it("passes a tree in order", () => {
    write("src/values/entry.ts", "export const VERSION = 1;\n");
    write("src/turn/run.ts", `import { VERSION } from "../values/entry.ts";\nexport const run = () => VERSION;\n`);
    expect(check()).toEqual({ status: 0, output: "Checked the structure of 2 files.\n" });
  });

  it("fails on a violation of each rule, with the file and the line", () => {
    write("src/values/entry.ts", `import "../turn/run.ts";\nexport const now = () => Date.now();\n`);
    write("src/turn/run.ts", "export let turns = 0;\n");
    const { status, output } = check();
    expect(status).toBe(1);
    expect(output).toContain("src/values/entry.ts:1 imports src/turn/run.ts, and turn stands above values\n");
    expect(output).toContain("src/values/entry.ts:2 Date.now in a pure module: pass the value in\n");
    expect(output).toContain("src/turn/run.ts:1 turns is a module-level let\n");
    expect(output).toContain("3 violations of the structure");
  });

  it("fails on a file that it can't read as TypeScript", () => {
    write("src/turn/run.ts", "export const = ;\n");
    expect(check()).toMatchObject({ status: 1, output: expect.stringContaining("src/turn/run.ts") });
  });
});
