import { builtinModules } from "node:module";
import { build } from "esbuild";

/** Bundles a worker of `bench/peers`, whose packages name Node's modules without `node:`. Answers the file. */
export async function peerBundle(entry: string): Promise<string> {
  const outfile = entry.replace(/([^/]+)\.ts$/, "dist/$1.js");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    alias: Object.fromEntries(
      builtinModules.filter((name) => !name.startsWith("_")).map((name) => [name, `node:${name}`]),
    ),
    // Packages in CommonJS ask for Node's modules by `require`, which a module in a worker does not have.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' },
    keepNames: true,
    logLevel: "error",
  });
  return outfile;
}
