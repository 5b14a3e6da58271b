import { startAnthropicEmulator, say } from "../test/emulators/anthropic/index.ts";
import { startWorkerd } from "../test/workerd.ts";
import { turnRequest } from "./turn/contenders.ts";
import { readStream } from "./lib/read-stream.ts";
const e = await startAnthropicEmulator({ answer: (r) => say("x".repeat(Number(process.argv[2] ?? 43))) });
const w = await startWorkerd({ entry: "bench/_profw.ts", bindings: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: e.url, HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench" } });
const acc = new Map<string, number[]>();
for (let i = 0; i < 60; i++) {
  const t = await readStream(() => w.fetch("/v1/chat/completions", turnRequest("s1", "hello " + i)));
  const marks: [string, number][] = await (await w.fetch("/marks")).json() as any;
  if (i < 20) continue;
  const t0 = marks[0]![1];
  const seen = new Map<string, number>();
  const put = (k: string, v: number) => { const a = acc.get(k) ?? []; a.push(v); acc.set(k, a); };
  for (const [n, at] of marks) { const k = n.startsWith("chunk") ? "chunk" : n; const c = (seen.get(k) ?? 0) + 1; seen.set(k, c); if (c > 1 && k === "chunk") continue; put(k + (c > 1 ? c : ""), at - t0); }
  put("client first", t.first); put("client whole", t.whole);
}
for (const [k, v] of acc) { v.sort((a, b) => a - b); console.log(k.padEnd(28), v[v.length >> 1]!.toFixed(2)); }
await w.dispose(); await e.close();
