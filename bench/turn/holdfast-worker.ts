import { SessionObject as Base } from "../../src/index.ts";
import app from "../../src/worker.ts";
import { delays, metered, meteredD1, meterSql, takeTally } from "../lib/meter.ts";

/** The session's object, with its rows and D1 statements counted. */
export class SessionObject extends Base {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    if (env.BENCH_COUNT === "yes") meterSql(ctx.storage.sql);
    super(ctx, { ...env, DB: meteredD1(env.DB, "object") });
  }
}

declare global {
  namespace Cloudflare {
    interface Env {
      /** `yes`: what the object's SQL writes is counted. */
      readonly BENCH_COUNT?: string;
    }
  }
}

export default {
  /** The deployed worker; and `/bench/…`, which sets delays and tells what was counted. */
  async fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    if (!url.pathname.startsWith("/bench/")) return app.fetch(request, metered(env), ctx);
    if (url.pathname === "/bench/delay") {
      delays.object = Number(url.searchParams.get("object") ?? 0);
      delays.d1 = Number(url.searchParams.get("d1") ?? 0);
      return new Response(null, { status: 204 });
    }
    // What was acknowledged is in D1 before the counts are told, so that they hold the flush of the turn, too.
    const conversation = url.searchParams.get("conversation") ?? "";
    await env.SESSIONS.getByName(JSON.stringify(["bench", "assistant", conversation])).flushed();
    return Response.json(takeTally());
  },
} satisfies ExportedHandler<Cloudflare.Env>;
