import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { WORKER_BUILD } from "../../test/workerd.ts";
import { startIsolates } from "../lib/isolates.ts";
import { ms, table, targets, thousands, times } from "../lib/markdown.ts";
import { median, pairedRatio } from "../lib/stats.ts";

const ROUNDS = 25;

export async function sizeSection(): Promise<string> {
  const plain = await bundled(false);
  const minified = await bundled(true);
  const deployed = uploaded();
  const { hello, bare, ours } = await coldStarts();
  const ratio = pairedRatio(ours, hello);
  const names = [...new Set([...plain.shares.keys(), ...minified.shares.keys()])];
  const share = ({ shares, bytes }: Bundle, name: string) =>
    `${((100 * (shares.get(name) ?? 0)) / bytes).toFixed(0)} %`;
  return [
    `\`src/worker.ts\`, bundled as \`wrangler deploy\` does: ${deployed} KiB gzip to upload. By esbuild alone:`,
    "",
    table(
      ["", "plain", "minified"],
      [
        ["bytes", thousands(plain.bytes), thousands(minified.bytes)],
        ["**gzip**", thousands(plain.gzip), thousands(minified.gzip)],
        ...names
          .toSorted((a, b) => (plain.shares.get(b) ?? 0) - (plain.shares.get(a) ?? 0))
          .map((name) => [`of it ${name}`, share(plain, name), share(minified, name)]),
      ],
    ),
    "",
    `Cold start: an isolate that is made for one request (worker loader, in a process that is warm), which answers`,
    `\`GET /healthz\`; medians of ${ROUNDS}, in turns. It compiles the script and runs its top level; nothing of a turn is in it.`,
    "",
    table(
      ["", "median", "against hello-world Hono"],
      [
        ["hello-world Hono", `${ms(median(hello))} ms`, ""],
        ["Holdfast with one tool", `${ms(median(bare))} ms`, times(pairedRatio(bare, hello))],
        ["Holdfast, `src/worker.ts` with its 18 tools", `${ms(median(ours))} ms`, times(ratio)],
      ],
    ),
    "",
    targets([
      {
        what: "worker of this stage",
        target: "under 200 KB gzip",
        figure: `${deployed} KiB`,
        met: deployed * 1.024 < 200,
      },
      { what: "cold isolate start", target: "at most 1.5× hello-world Hono", figure: times(ratio), met: ratio <= 1.5 },
    ]),
  ].join("\n");
}

interface Bundle {
  readonly bytes: number;
  readonly gzip: number;
  /** Bytes by package; `Holdfast` is `src/`. */
  readonly shares: ReadonlyMap<string, number>;
}

async function bundled(minify: boolean): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    ...WORKER_BUILD,
    entryPoints: ["src/worker.ts"],
    write: false,
    minify,
    metafile: true,
  });
  const shares = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs),
  )) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "Holdfast";
    shares.set(name, (shares.get(name) ?? 0) + bytesInOutput);
  }
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  return { bytes: bytes.byteLength, gzip: gzipSync(bytes).byteLength, shares };
}

/** What `wrangler deploy` would upload, in KiB gzip, as it says itself. */
function uploaded(): number {
  const out = mkdtempSync(join(tmpdir(), "holdfast-size-"));
  try {
    const arguments_ = ["wrangler", "deploy", "--dry-run", "--outdir", out];
    const text = execFileSync("npx", arguments_, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number(/gzip: ([\d.]+) KiB/.exec(text)?.[1]);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Times to answer by cold isolates, in ms, of three workers in turns. */
async function coldStarts() {
  const workers = [
    { name: "hello", isolates: await startIsolates("bench/size/hello-worker.ts", {}) },
    { name: "bare", isolates: await startIsolates("bench/size/bare-worker.ts", {}) },
    { name: "ours", isolates: await startIsolates("src/worker.ts", {}) },
  ] as const;
  const times = { hello: [] as number[], bare: [] as number[], ours: [] as number[] };
  try {
    for (let n = 0; n < ROUNDS + 3; n += 1) {
      for (const { name, isolates } of workers) {
        const since = performance.now();
        const response = await isolates.fetch(`isolate-${n}`, "/healthz");
        const text = await response.text();
        if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
        if (n >= 3) times[name].push(performance.now() - since);
      }
    }
  } finally {
    for (const { isolates } of workers) await isolates.dispose();
  }
  return times;
}
