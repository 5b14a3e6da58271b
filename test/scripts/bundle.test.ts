import { build } from "esbuild";
import { expect, test } from "vitest";
import { WORKER_BUILD } from "../workerd.ts";

test("a worker carries only one of zod's translations, where one `import { z }` would bring all", async () => {
  const { metafile } = await build({ ...WORKER_BUILD, entryPoints: ["src/worker.ts"], metafile: true, write: false });
  const [output] = Object.values(metafile.outputs);
  const carried = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const translations = carried.map(([path]) => path).filter((path) => path.includes("zod/v4/locales/"));
  expect(translations).toEqual(["node_modules/zod/v4/locales/en.js"]);
});
