import { WorkerEntrypoint } from "cloudflare:workers";
import { sessionClient } from "../session/client.ts";
import type { TurnJob } from "../session/host.ts";
import type { PushJob } from "../session/pushes.ts";
import { hostOf } from "./hosts.ts";
import { goOnWith } from "./start.ts";

/**
 * Goes on with turns that have lost their isolate or were given away: a session's object calls it, each time as a fresh
 * invocation with a time of its own, client or not. A worker exports it beside `SessionObject`.
 */
export class TurnRunner extends WorkerEntrypoint<Cloudflare.Env> {
  /** Resolves when the turn is over or was handed on. */
  async run(job: TurnJob): Promise<void> {
    const host = hostOf(job.id.agent);
    if (host !== null) return goOnWith(host, this.env, this.ctx, job);
    const message = `There is no agent ${JSON.stringify(job.id.agent)} any more.`;
    await sessionClient(this.env, job.id).abandon(job.fence, { reason: "model_not_found", message });
  }

  /** Tells the news of a task to who asked for them. Rejects when they were not taken. */
  async push(job: PushJob): Promise<void> {
    await hostOf(job.id.agent)?.push?.(this.env, job);
  }
}
