import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SettingsFile, settingsIn, writeSettings } from "../../../scripts/dev/settings.ts";

describe("the settings of npm run dev", () => {
  let root: string;
  let written: SettingsFile | null = null;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-root-"));
  });
  afterEach(() => {
    written?.remove();
    written = null;
    rmSync(root, { recursive: true });
  });

  function write(settings: Record<string, string>): { path: string; text: string; files: string[] } {
    written = writeSettings(new Map(Object.entries(settings)), root);
    const files = written.options.filter((option) => option !== "--env-file");
    const path = files.at(-1) ?? "";
    return { path, text: readFileSync(path, "utf8"), files };
  }

  it("are those of the shell that the worker reads and that have a value", () => {
    const env = { OPENAI_API_KEY: "k", HOLDFAST_MODEL: "", HOLDFAST_OPEN: "0", PATH: "/bin" };
    expect([...settingsIn(env)]).toEqual([["OPENAI_API_KEY", "k"]]);
  });

  it("open the worker to this machine without a key", () => {
    expect(write({}).text).toBe("HOLDFAST_OPEN='1'\n");
  });

  it("stand in a file that only this user can read and that is gone afterwards", () => {
    const { path } = write({ OPENAI_API_KEY: "secret" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    written?.remove();
    expect(existsSync(path)).toBe(false);
  });

  it("keep quotes and dollar signs", () => {
    const { text } = write({ A: `x"y`, B: "it's", C: "pa$HOME" });
    expect(text).toContain(`A='x"y'\nB=\`it's\`\nC='pa\\$HOME'\n`);
  });

  it("that the file can't hold are an error that names them, not a wrong key", () => {
    expect(() => write({ HOLDFAST_API_KEYS: "'`" })).toThrow(/HOLDFAST_API_KEYS/);
    expect(() => write({ HOLDFAST_API_KEYS: "\\$" })).toThrow(/HOLDFAST_API_KEYS/);
  });

  it("come after those of the project's own files, as wrangler would choose them", () => {
    writeFileSync(join(root, ".env"), "A=1\n");
    expect(write({}).files[0]).toBe(join(root, ".env"));
    written?.remove();
    writeFileSync(join(root, ".dev.vars"), "A=2\n");
    expect(write({}).files.slice(0, -1)).toEqual([join(root, ".dev.vars")]);
  });
});
