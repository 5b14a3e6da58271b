import { SessionObject as Base } from "../src/index.ts";
import app from "../src/worker.ts";
const late = (db: any) => new Proxy(db, { get(t, n) { const v = t[n]; if (n === "batch") return async (s: any) => { await new Promise(r => setTimeout(r, 20)); return t.batch(s); }; return typeof v === "function" ? v.bind(t) : v; } });
export class SessionObject extends Base { constructor(ctx: any, env: any) { super(ctx, { ...env, DB: late(env.DB) }); } }
const stmt = { bind: () => stmt, run: async () => ({}), first: async () => null };
export default { fetch: (r: any, env: any, ctx: any) => app.fetch(r, { ...env, DB: { prepare: () => stmt } } as any, ctx) };
