import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";

/**
 * Makes the package: `dist/index.js`, `dist/index.node.js` (without what only a Worker can load) and `dist/testing.js`,
 * which share their modules, and the types beside them.
 */
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });

await build({
  absWorkingDir: root,
  entryPoints: ["src/index.ts", "src/index.node.ts", "src/testing.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  // What the package depends on is installed with it; `cloudflare:` and `node:` come with the runtime.
  packages: "external",
  format: "esm",
  platform: "neutral",
  target: "es2024",
  sourcemap: true,
  legalComments: "none",
});

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });

// The bindings are a global interface that nothing imports, so a user's compiler would never see them.
const types = join(dist, "types/src/index.d.ts");
writeFileSync(types, `/// <reference path="./env.d.ts" />\n${readFileSync(types, "utf8")}`);
