import { StreamResponse, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { V03PushNotificationSerializer } from "@a2a-js/sdk/compat/v0_3/server";
import { type EgressLimits, guardedFetch } from "../../egress/guarded-fetch.ts";
import { egressPolicy } from "../../egress/refusal.ts";
import type { PushJob } from "../../session/pushes.ts";
import type { TurnHost } from "../../turn/start.ts";
import { readKept } from "./push.ts";
import { taskView } from "./task-view.ts";

/** A receiver has so long to take it, and nothing that it answers is of interest. */
const LIMITS: Partial<EgressLimits> = { ms: 15_000, bytes: 64 * 1024, requests: 4 };

/**
 * Tells a receiver how a task stands now, all of it. Rejects unless it is taken with a 2xx, so that it is told again: it
 * may come twice, and what it says is never older than what came before.
 */
export async function deliverPush(
  sessions: TurnHost["sessions"],
  env: Cloudflare.Env,
  { id, turn, push }: PushJob,
): Promise<void> {
  const [record] = (await sessions(env, id).tasks([turn], true)) ?? [];
  if (record === undefined) return;
  const { config, version, host } = readKept(push);
  const { url, token, authentication } = TaskPushNotificationConfig.fromJSON(config);
  const task = taskView(id.conversation, record, { historyLength: null, artifacts: true });
  const update: StreamResponse = { payload: { $case: "task", value: task } };
  const old = version === "0.3" ? new V03PushNotificationSerializer().serialize(update, task) : null;
  const headers = new Headers({ "content-type": old === null ? "application/a2a+json" : "application/json" });
  if (authentication !== undefined && authentication.credentials !== "") {
    headers.set("authorization", `${authentication.scheme} ${authentication.credentials}`);
  }
  if (token !== "") headers.set("x-a2a-notification-token", token);
  const body = old === null ? JSON.stringify(StreamResponse.toJSON(update)) : old.body;
  const fetch = guardedFetch(egressPolicy(env, host), LIMITS);
  const response = await fetch(url, { method: "POST", headers, body });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`a receiver of pushes answered ${response.status}`);
}
