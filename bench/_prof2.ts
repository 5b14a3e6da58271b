import { startAnthropicEmulator, say } from "../test/emulators/anthropic/index.ts";
import { startWorkerd } from "../test/workerd.ts";
import { turnRequest } from "./turn/contenders.ts";
import { median } from "./lib/stats.ts";
const e = await startAnthropicEmulator({ answer: (r) => say("x".repeat(Number(process.argv[2] ?? 43))) });
const w = await startWorkerd({ entry: process.argv[3] ?? "src/worker.ts", bindings: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: e.url, HOLDFAST_MODEL: "anthropic/claude-sonnet-5", HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench", TOOLS: "[]" } });
const H: number[] = [], F: number[] = [], D: number[] = [], E: number[] = [], C: number[] = [];
for (let i = 0; i < 80; i++) {
  const t0 = performance.now();
  const r = await w.fetch("/v1/chat/completions", turnRequest("s1", "hello " + i));
  const h = performance.now() - t0; let f = 0, d = 0, n = 0; let text = "";
  const dec = new TextDecoder();
  for await (const c of r.body!) { n++; text += dec.decode(c, {stream:true}); if (!f && text.includes('"content":"')) f = performance.now() - t0; if (!d && text.includes("[DONE]")) d = performance.now() - t0; }
  await new Promise(r => setTimeout(r, 60));
  if (i < 20) continue;
  H.push(h); F.push(f); D.push(d); E.push(performance.now() - t0); C.push(n);
}
console.log("headers", median(H).toFixed(1), "first", median(F).toFixed(1), "done", median(D).toFixed(1), "end", median(E).toFixed(1), "chunks", median(C));
await w.dispose(); await e.close();
