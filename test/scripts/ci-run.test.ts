import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../.ci/run");

describe("the last line of .ci/run", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-ci-"));
    mkdirSync(join(root, ".ci"));
    mkdirSync(join(root, "bin"));
    cpSync(SCRIPT, join(root, ".ci/run"));
    writeFileSync(join(root, "README.md"), "npm ci && npm test\n");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** Starts it with a stand-in for npm: `steps` has shell code for `ci`, `run` and `test`. */
  function start(steps: Record<string, string>): ChildProcessWithoutNullStreams {
    const cases = Object.entries(steps).map(([name, code]) => `${name}) ${code} ;;`);
    const npm = join(root, "bin/npm");
    writeFileSync(npm, `#!/usr/bin/env bash\ncase "$1" in\n${cases.join("\n")}\nesac\n`);
    chmodSync(npm, 0o755);
    const path = [join(root, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH: path, HOLDFAST_RECORDED: "", HOLDFAST_TEST_REPORT: "" };
    return spawn("bash", [join(root, ".ci/run")], { env });
  }

  async function ending(child: ChildProcessWithoutNullStreams): Promise<{ status: number; last: string | undefined }> {
    const [[status], output] = await Promise.all([once(child, "close"), text(child.stdout)]);
    return { status, last: output.trimEnd().split("\n").at(-1) };
  }

  function report(passed: number, failed: number, broken = 0): string {
    const testResults = Array.from({ length: broken }, () => ({ status: "failed", assertionResults: [] }));
    const text = JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults });
    return `echo '${text}' > "$HOLDFAST_TEST_REPORT"`;
  }

  it.each([
    ["all tests passed", { test: report(12, 0) }, 0, "12 passed, 0 failed"],
    ["some failed", { test: `${report(12, 3)}; exit 1` }, 1, "12 passed, 3 failed"],
    ["a test file could not be loaded", { test: `${report(12, 0, 1)}; exit 1` }, 1, "12 passed, 1 failed"],
    ["all passed and the run failed all the same", { test: `${report(12, 0)}; exit 1` }, 1, "12 passed, 1 failed"],
    ["there was no test", { test: report(0, 0) }, 1, "0 passed, 1 failed"],
    ["the tests left no report", { test: "exit 1" }, 1, "0 passed, 1 failed"],
    ["the report is broken", { test: "echo '{' > $HOLDFAST_TEST_REPORT" }, 1, "0 passed, 1 failed"],
    ["the packages can't be installed", { ci: "exit 7" }, 7, "0 passed, 1 failed"],
    ["the check fails", { run: "echo 3 problems; exit 2", test: report(12, 0) }, 2, "0 passed, 1 failed"],
  ])("says how many passed and failed where %s", async (_, steps, status, last) => {
    expect(await ending(start(steps))).toEqual({ status, last });
  });

  it("says so where the README names no test command", async () => {
    writeFileSync(join(root, "README.md"), "Nothing.\n");
    expect(await ending(start({}))).toEqual({ status: 1, last: "0 passed, 1 failed" });
  });

  it("says so where it is told to stop", async () => {
    const child = start({ ci: "echo begun >&2; cat" });
    await once(child.stderr, "data");
    const ended = ending(child);
    child.kill("SIGTERM");
    // The shell hears the signal when its step is over.
    child.stdin.end();
    expect(await ended).toEqual({ status: 143, last: "0 passed, 1 failed" });
  });
});
