import { SessionObject as Base } from "../src/index.ts";
import app from "../src/worker.ts";
export class SessionObject extends Base { constructor(ctx: any, env: any) { super(ctx, { ...env, DB: null }); } }
const stmt = { bind: () => stmt, run: async () => ({}), first: async () => null };
export default { fetch: (r: any, env: any, ctx: any) => app.fetch(r, { ...env, DB: { prepare: () => stmt } } as any, ctx) };
