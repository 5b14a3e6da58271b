import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { WORKER_BUILD } from "../test/workerd.ts";

/**
 * Keeps the worker of the end-to-end tests as this release has it: `node scripts/release-fixture.ts NAME` writes
 * `test/fixtures/worker-NAME.js.gz`. Later releases are tested against it, worker against object and the other way round
 * (`test/e2e/skew.test.ts`). One is added with each release; none is ever made anew.
 */
const name = process.argv[2];
if (name === undefined || !/^[\w.-]+$/.test(name)) throw new Error("Give the release's name, as in 0.1.0.");

const root = resolve(import.meta.dirname, "..");
const { outputFiles } = await build({
  ...WORKER_BUILD,
  absWorkingDir: root,
  entryPoints: ["test/e2e/worker.ts"],
  minify: true,
  write: false,
});
const folder = join(root, "test/fixtures");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `worker-${name}.js.gz`), gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }));
