import { DurableObject } from "cloudflare:workers";
import { readAnswer, streamOf } from "../../src/session/branch-stream.ts";
import type { SessionId } from "../../src/session/contract.ts";
import { Session } from "../../src/session/session.ts";
import { type Faults, faultyD1, NO_FAULTS } from "./faulty-d1.ts";
import { append, assistant, begin, callRecord, item, MODEL, say, user } from "./session.ts";

/** One call of a session's object. `spare`: that of another object of the same name, as after a loss of storage. */
export interface Ask {
  readonly id: SessionId;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Method = (...args: unknown[]) => unknown;

/** A session on real storage and a real D1, with a clock, an alarm and faults that the test holds. */
export class SessionObject extends DurableObject<Cloudflare.Env> {
  readonly #session: Session;
  readonly #faults: Faults = { ...NO_FAULTS, taken: [], tried: 0, asked: [] };
  #letGo: (() => void) | null = null;
  #now = 1_000_000;
  #alarm: number | null = null;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    this.#session = new Session({
      storage: ctx.storage,
      db: faultyD1(env.DB, this.#faults, (letGo) => {
        this.#letGo = letGo;
      }),
      name: ctx.id.name,
      waitUntil: (work) => ctx.waitUntil(work),
      setAlarm: async (due) => {
        this.#alarm = due;
      },
      now: () => this.#now,
    });
  }

  async ask(id: SessionId, method: string, args: readonly unknown[]): Promise<unknown> {
    const own: Record<string, Method> = {
      faults: (next) => void Object.assign(this.#faults, next),
      taken: () => ({
        tried: this.#faults.tried,
        asked: this.#faults.asked.splice(0),
        taken: this.#faults.taken.splice(0),
      }),
      isHeld: () => this.#letGo !== null,
      letGo: () => {
        this.#letGo?.();
        this.#letGo = null;
      },
      now: () => this.#now,
      due: () => this.#alarm,
      /** Lets time pass, ringing the alarm whenever it is due. Answers how often it rang. */
      pass: (ms) => this.#pass(Number(ms)),
      query: (statement) => this.ctx.storage.sql.exec(String(statement)).toArray(),
      /** What a clone or fork of it begins with, as JSON; and a session that begins with that. */
      branch: async (at) => {
        const stream = await this.#session.branch({ v: 1, at: Number(at), of: "fork" });
        return stream === null ? null : readAnswer(await new Response(stream).text());
      },
      adopt: (branch) => this.#session.adopt(id, streamOf(JSON.stringify(branch))),
      /** So many turns of one step, with `text` in what the user says. */
      turns: (count, text) => this.#turns(id, Number(count), String(text)),
    };
    const session = this.#session as unknown as Record<string, Method>;
    return (await (own[method] ? own[method](...args) : session[method]?.(...args))) ?? null;
  }

  async #pass(ms: number): Promise<number> {
    const end = this.#now + ms;
    let rang = 0;
    while (this.#alarm !== null && this.#alarm <= end) {
      this.#now = Math.max(this.#now, this.#alarm);
      this.#alarm = null;
      rang++;
      await this.#session.alarm();
    }
    this.#now = end;
    return rang;
  }

  async #turns(id: SessionId, count: number, text: string): Promise<void> {
    for (let n = 0; n < count; n++) {
      const turn = crypto.randomUUID();
      const session = {
        id,
        begin: this.#session.begin.bind(this.#session),
        append: this.#session.append.bind(this.#session),
      };
      const start = await begin(session, { turn, user: user(`${text} ${n}`, turn), minted: true });
      const first = start.chain === null;
      const open = { verdict: { prefix: "first" }, revision: 1, prefix: '{"tools":[]}', base: null } as const;
      const deferrals = JSON.stringify({ initial: ["clock"], loadPoints: { [`late${start.lastSeq}`]: "c1" } });
      await append(session, start, {
        kind: "before",
        deferrals,
        ...(first ? { instructions: JSON.stringify({ text: "Be kind.", revision: 1 }) } : {}),
      });
      await append(session, start, {
        entries: [assistant(turn, [say(`answer to ${text}`)])],
        chain: {
          ...{ key: MODEL, epoch: 1, open: first ? open : null, deferred: [] },
          items: start.entries.map(([seq, entry]) => item(seq, entry)),
        },
        call: callRecord(turn),
      });
    }
  }
}

/** Another object of the same sessions. */
export class SpareObject extends SessionObject {}

interface Env extends Cloudflare.Env {
  readonly SPARE: DurableObjectNamespace<SpareObject>;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { id, method, args }: Ask = await request.json();
    const objects = new URL(request.url).pathname === "/spare" ? env.SPARE : env.SESSIONS;
    const name = JSON.stringify([id.owner, id.agent, id.conversation]);
    const stub = objects.getByName(name) as unknown as { ask: Method };
    try {
      return Response.json({ answer: (await stub.ask(id, method, args)) ?? null });
    } catch (error) {
      return Response.json({ error: error instanceof Error ? error.message : String(error) }, { status: 500 });
    }
  },
} satisfies ExportedHandler<Env>;
