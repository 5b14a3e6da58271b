import fc from "fast-check";
import { expect, test } from "vitest";
import type { SentMessage } from "../../src/context/align-history.ts";
import { effectiveContext } from "../../src/context/effective.ts";
import type { ChainState, SessionId } from "../../src/session/contract.ts";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { decodeEntry } from "../../src/values/entry.ts";
import { conversation, DEFERRED, PREFIX, play } from "./played.ts";
import { item, MODEL } from "./session.ts";

const id: SessionId = { owner: "ada", agent: "assistant", conversation: "epochs" };

/** A turn: it goes on, or takes the place of (`edit`) or answers anew (`again`) one of those that are there. */
const turn = fc.record({
  asks: fc.constantFrom("more", "edit", "again"),
  at: fc.nat(),
  batches: fc.nat(2),
  answered: fc.boolean(),
});

/** What was sent of an epoch: the slow way, all of it. */
interface Epoch {
  items: string[];
  calls: { end: number; answered: boolean }[];
  /** The epoch it goes on from, and with how many of its items. */
  base: { of: Epoch; items: number } | null;
}

test("however often a session is cut, its chain is what was sent of the entries that are left", async () => {
  let deepest = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 3, maxLength: 14 }), async (turns) => {
      const session = open();
      let told: (readonly [string, string])[] = [];
      let epoch: Epoch | null = null;
      for (const [index, { asks, at, batches, answered }] of turns.entries()) {
        const place = asks === "more" ? told.length : at % (told.length + 1);
        const question = asks === "again" ? (told[place]?.[0] ?? `q${index}`) : `q${index}`;
        told = told.slice(0, place);
        const shown: SentMessage[] = conversation(...told);
        const played = { name: `t${index}`, asks: question, answer: `a${index}`, shown, batches, answered };
        const start = await play(session, played);
        told = [...told, [question, `a${index}`]];

        const effective = new Set((await entriesOf(session)).through(start.lastSeq));
        epoch = await follow(epoch, start.chain, effective);
        // What the turn itself added.
        epoch.items.push(...start.entries.map(([seq, text]) => item(seq, text)));
        epoch.calls.push({ end: epoch.items.length - 1, answered });
        const texts = (await entriesOf(session)).rows;
        for (let step = 0; step < batches; step++) {
          for (const seq of [start.lastSeq + 1 + 2 * step, start.lastSeq + 2 + 2 * step]) {
            epoch.items.push(item(seq, texts[seq - 1]?.[1] ?? ""));
          }
          epoch.calls.push({ end: epoch.items.length - 1, answered });
        }
        for (let depth = 0, one: Epoch | null = epoch; one !== null; one = one.base?.of ?? null) {
          deepest = Math.max(deepest, ++depth);
        }
      }
    }),
    { numRuns: 150 },
  );
  expect(deepest).toBeGreaterThan(3);
});

/** Checks the chain that a turn started from, and gives the epoch that its requests are of. */
async function follow(epoch: Epoch | null, chain: ChainState | null, effective: ReadonlySet<number>): Promise<Epoch> {
  if (epoch === null) {
    expect(chain).toBeNull();
    return { items: [], calls: [], base: null };
  }
  const lost = epoch.items.findIndex((text) => !effective.has(JSON.parse(text).seq));
  const kept = lost < 0 ? epoch.items : epoch.items.slice(0, lost);
  expect(chain).toMatchObject({ key: MODEL, prefix: PREFIX, deferred: DEFERRED, items: kept, cut: lost >= 0 });
  expect(chain?.anchor).toBe(anchor(epoch, kept.length));
  return lost < 0 ? epoch : { items: [...kept], calls: [], base: { of: epoch, items: kept.length } };
}

function anchor({ calls, base }: Epoch, length: number): number | null {
  const own = calls.findLast(({ end, answered }) => answered && end < length);
  if (own !== undefined) return own.end;
  return base === null ? null : anchor(base.of, Math.min(length, base.items));
}

function open() {
  const session = new Session({
    storage: nodeStorage(),
    db: null,
    name: JSON.stringify(Object.values(id)),
    waitUntil: () => {},
    setAlarm: async () => {},
    now: () => 0,
  });
  return {
    id,
    begin: session.begin.bind(session),
    append: session.append.bind(session),
    entries: session.entries.bind(session),
  };
}

async function entriesOf(session: ReturnType<typeof open>) {
  const rows = (await session.entries(0, 10_000))?.entries ?? [];
  const all = rows.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
  return { rows, through: (last: number) => effectiveContext(all.slice(0, last)).map(({ seq }) => seq) };
}
