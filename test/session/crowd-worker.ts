import { sessionClient } from "../../src/session/client.ts";
import { SessionObject as Base } from "../../src/session/object.ts";
import { wholeTurn } from "./session.ts";

/** Sessions that live and end, as many as asked for. */
export interface Crowd {
  readonly name: string;
  readonly count: number;
  /** Whether they are deleted at their end. */
  readonly end: boolean;
}

const AT_ONCE = 20;

export class SessionObject extends Base {
  /** Whether anything is left in this object: a table, or an alarm. */
  async isEmpty(): Promise<boolean> {
    const { sql } = this.ctx.storage;
    const tables = sql.exec("SELECT 1 FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
    return tables.length === 0 && (await this.ctx.storage.getAlarm()) === null;
  }
}

export default {
  /** Answers how many objects are not empty afterwards. */
  async fetch(request: Request, env: Cloudflare.Env): Promise<Response> {
    const crowd: Crowd = await request.json();
    let full = 0;
    let next = 0;
    const one = async () => {
      for (let n = next++; n < crowd.count; n = next++)
        full += (await life(env, `${crowd.name}-${n}`, crowd.end)) ? 0 : 1;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    return Response.json({ full });
  },
} satisfies ExportedHandler<Cloudflare.Env>;

/** A session of two turns and its fork, deleted while the copy to D1 is under way. Answers whether both are empty. */
async function life(env: Cloudflare.Env, conversation: string, end: boolean): Promise<boolean> {
  const named = (conversation: string) => ({ owner: "ada", agent: "assistant", conversation });
  const open = (conversation: string) => {
    const id = named(conversation);
    return Object.assign(sessionClient(env, id), { id });
  };
  const one = open(conversation);
  await wholeTurn(one, "t1", "hello", "hi");
  await wholeTurn(one, "t2", "more", "again");
  const fork = open(`${conversation}-fork`);
  const answer = await one.branch({ v: 1, at: 1, of: "fork" });
  if (answer?.kind !== "branch") throw new Error("no branch");
  await fork.adopt(fork.id, answer.branch);
  if (!end) {
    await Promise.all([one.flushed(), fork.flushed()]);
    return true;
  }
  const removed = await Promise.all([one.remove(), fork.remove()]);
  if (!removed.every(Boolean)) throw new Error("a session was not there to be deleted");
  const stubs = env.SESSIONS as unknown as { getByName(name: string): { isEmpty(): Promise<boolean> } };
  const empty = [one, fork].map(({ id }) =>
    stubs.getByName(JSON.stringify([id.owner, id.agent, id.conversation])).isEmpty(),
  );
  return (await Promise.all(empty)).every(Boolean);
}
