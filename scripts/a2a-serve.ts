import { parseArgs } from "node:util";
import { startWorkerd } from "../test/workerd.ts";

/**
 * An agent for the A2A conformance kit, in workerd on this machine: `npm run a2a:serve [-- --port N] [--key SECRET]
 * [--immediately]`. Without a key it is open to this machine. `--immediately` is for the kit's edition of March 2026
 * (`a2a/kit.ts`). Ends with Ctrl-C.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "9999" },
    key: { type: "string" },
    immediately: { type: "boolean", default: false },
  },
});
const port = Number(values.port);
const access: Record<string, string> =
  values.key === undefined ? { HOLDFAST_OPEN: "1" } : { HOLDFAST_API_KEYS: `kit:${values.key}` };
const bindings: Record<string, string> = { ...access, HOLDFAST_ALLOW_LOOPBACK: "1" };
if (values.immediately) bindings.A2A_IMMEDIATELY = "1";
const workerd = await startWorkerd({ entry: "scripts/a2a/worker.ts", bindings, port });
console.log(`JSON-RPC   ${workerd.url.origin}/a2a`);
console.log(`HTTP+JSON  ${workerd.url.origin}`);
console.log(
  `The kit    ./run_tck.py --sut-url ${workerd.url.origin} --category mandatory   (see docs/a2a-conformance.md)`,
);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void workerd.dispose().then(() => process.exit(0)));
}
