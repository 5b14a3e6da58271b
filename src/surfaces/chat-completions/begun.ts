import type { AppDeps } from "../../http/deps.ts";
import type { Once } from "../../session/contract.ts";
import { within } from "../../turn/within.ts";
import { D1_MS, type Whose } from "./transcript.ts";

type Deps = Pick<AppDeps, "requests" | "log">;

/** The conversation that this request began when it came first; null where it did not come, or D1 can't be asked. */
export async function findBegun(
  { requests, log }: Deps,
  db: D1Database,
  { requestId, ...whose }: Whose,
  { body }: Once,
): Promise<string | null> {
  const found = await within(D1_MS, () => requests.findRequest(db, whose, body, Date.now()));
  if (found.ok) return found.value;
  log("first request not found", { level: "warn", requestId, why: found.why });
  return null;
}

/** Notes the conversation that a request without an id began, for its repeat, which brings none either. */
export async function rememberBegun(
  { requests, log }: Deps,
  db: D1Database,
  { requestId, ...id }: Whose & { readonly conversation: string },
  { body }: Once,
): Promise<void> {
  const saved = await within(D1_MS, () => requests.saveRequest(db, id, body, Date.now()));
  if (!saved.ok) log("first request not noted", { level: "warn", requestId, why: saved.why });
}
