import { SessionObject as Base } from "../../src/index.ts";
import app from "../../src/worker.ts";
import { delays, metered, meteredD1, meterSql, type Tally, takeTally } from "../lib/meter.ts";

/** The session's object, with its rows and D1 statements counted. */
export class SessionObject extends Base {
  readonly #rows: () => number;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    const rows = env.BENCH_COUNT === "yes" ? meterSql(ctx.storage.sql) : () => 0;
    super(ctx, { ...env, DB: meteredD1(env.DB, "object") });
    this.#rows = rows;
  }

  /** What was counted since this was last asked, once all that was acknowledged is in D1. */
  async tally(): Promise<Tally> {
    await this.flushed();
    return takeTally(this.#rows());
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
    const name = JSON.stringify(["bench", "assistant", url.searchParams.get("conversation")]);
    const stub = env.SESSIONS.getByName(name) as unknown as Pick<SessionObject, "tally">;
    return Response.json(await stub.tally());
  },
} satisfies ExportedHandler<Cloudflare.Env>;
