import { holdfast } from "../src/surfaces/holdfast.ts";
import { defineAgent } from "../src/define/agent.ts";
import { lazy } from "../src/define/lazy.ts";
import { apiKeys } from "../src/http/auth.ts";
import { everyday, occasional } from "../src/toolkit/toolkit.ts";
import { Session } from "../src/session/session.ts";
import { nodeStorage } from "../src/testing/node-storage.ts";
import { turnRequest } from "./turn/contenders.ts";
const sessions = new Map<string, Session>();
const env: any = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9911", HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench",
  SESSIONS: { getByName(n: string) { let s = sessions.get(n); if (!s) { s = new Session({ storage: nodeStorage(), db: null, name: n, waitUntil() {}, now: Date.now }); sessions.set(n, s); } return s; } },
  DB: { prepare: () => ({ bind: () => ({ run: async () => ({}), first: async () => null }) }) } };
const agent = defineAgent({ name: "assistant", description: "d", model: "anthropic/claude-sonnet-5", instructions: "You are a helpful assistant.", tools: [...everyday, lazy(occasional)] });
const app = holdfast({ agents: [agent], auth: [apiKeys()] });
const N = 150; const times: number[] = []; const cpu: number[] = [];
for (let i = 0; i < N; i++) {
  const c0 = process.cpuUsage(); const t = performance.now();
  const r = await app.fetch(new Request("http://x/v1/chat/completions", turnRequest("s" + Math.floor(i/30), "hello " + i) as any), env, { waitUntil() {}, passThroughOnException() {} } as any);
  await r.text();
  times.push(performance.now() - t); const c = process.cpuUsage(c0); cpu.push((c.user + c.system) / 1000);
}
const m = (a: number[]) => a.slice(60).sort((x, y) => x - y)[45]!.toFixed(2);
console.log("whole", m(times), "cpu", m(cpu));
