import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const patches = (await readdir(join(root, "test/mutations"))).filter((name) => name.endsWith(".patch"));

let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "holdfast-mutations-"));
  for (const name of ["package.json", "tsconfig.json", "vitest.config.ts", "src", "test"]) {
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

test("without a mutation the ring passes in the copy", async () => {
  expect(await ringFails()).toBeNull();
});

for (const patch of patches) {
  test(`the ring notices ${patch.replace(".patch", "").replaceAll("-", " ")}`, async () => {
    const file = join(root, "test/mutations", patch);
    await run("patch", ["-p1", "--input", file], { cwd: copy });
    try {
      expect(await ringFails()).toContain("Property failed");
    } finally {
      await run("patch", ["-p1", "--reverse", "--input", file], { cwd: copy });
    }
  });
}

/** What the ring printed if it failed, else null. */
async function ringFails(): Promise<string | null> {
  const env = { ...process.env, HOLDFAST_RING_RUNS: "1000" };
  try {
    await run("npx", ["vitest", "run", "test/property/ring-1.test.ts"], { cwd: copy, env, maxBuffer: 100_000_000 });
    return null;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}\n${stderr}`;
  }
}
