import { builtinModules } from "node:module";
import { build } from "esbuild";
import { WORKER_BUILD } from "../../test/workerd.ts";

/** Bundles a worker of `bench/peers`, whose packages name Node's modules without `node:`. Answers the file. */
export async function peerBundle(entry: string): Promise<string> {
  const outfile = entry.replace(/([^/]+)\.ts$/, "dist/$1.js");
  await build({
    ...WORKER_BUILD,
    entryPoints: [entry],
    outfile,
    alias: Object.fromEntries(
      builtinModules.filter((name) => !name.startsWith("_")).map((name) => [name, `node:${name}`]),
    ),
    // Packages in CommonJS ask for Node's modules by `require`, which a module in a worker does not have.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' },
  });
  return outfile;
}
