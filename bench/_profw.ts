import { SessionObject as Base } from "../src/index.ts";
import app from "../src/worker.ts";
const marks: [string, number][] = [];
const mark = (n: string) => marks.push([n, performance.now()]);
export class SessionObject extends Base {
  override async begin(r: any) { mark("o.begin<"); const x = await super.begin(r); mark("o.begin>"); return x; }
  override async append(r: any) { mark("o.append<"); const x = await super.append(r); mark("o.append>"); return x; }
}
const f = globalThis.fetch;
globalThis.fetch = async (...a: any[]) => { mark("fetch<"); const r = await (f as any)(...a); mark("fetch>");
  const body = r.body.pipeThrough(new TransformStream({ transform(c, k) { mark("chunk " + c.length); k.enqueue(c); }, flush() { mark("body end"); } }));
  return new Response(body, r); };
export default { async fetch(request: Request, env: any, ctx: any) {
  if (new URL(request.url).pathname === "/marks") return Response.json(marks.splice(0));
  mark("req");
  const SESSIONS = { getByName: (n: string) => { const s = env.SESSIONS.getByName(n); return new Proxy(s, { get: (t, m: string) => async (...a: any[]) => { mark(m + "<"); const r = await t[m](...a); mark(m + ">"); return r; } }); } };
  const DB = new Proxy(env.DB, { get(t, n) { if (n === "prepare") return (q: string) => { mark("d1 " + q.slice(0, 20)); return t.prepare(q); }; const v = t[n]; return typeof v === "function" ? v.bind(t) : v; } });
  const r = await app.fetch(request, { ...env, SESSIONS, DB }, ctx);
  mark("response");
  if (!r.body) return r;
  return new Response(r.body.pipeThrough(new TransformStream({ transform(c, k) { k.enqueue(c); }, flush() { mark("out end"); } })), r);
} };
