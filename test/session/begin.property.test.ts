import fc from "fast-check";
import { expect, test } from "vitest";
import { storedMessages } from "../../src/context/align-history.ts";
import { cutSpans, spansBetween } from "../../src/context/cuts.ts";
import { callsOf, effectiveContext, openBatch } from "../../src/context/effective.ts";
import { repair } from "../../src/context/repair.ts";
import { type Found, planTurn } from "../../src/session/begin.ts";
import { decodeEntry, type Entry, encodeEntry, type Numbered } from "../../src/values/entry.ts";
import { ToolDeferrals } from "../../src/values/tool-deferrals.ts";
import { answer, results, user } from "../context/entries.ts";
import { beginRequest } from "./session.ts";

const id = { owner: "ada", agent: "assistant", conversation: "c" };

/** One turn: what the client asks with, how many batches run, and how it ends. */
const turn = fc.record({
  asks: fc.constantFrom("new", "again", "regenerate", "edit", "users only", "append only"),
  at: fc.nat(),
  system: fc.constantFrom(null, "a", "b"),
  batches: fc.nat(3),
  says: fc.boolean(),
  ends: fc.constantFrom("done", "silent", "failed", "cut", "stopped", "dead", "dead in a batch", "dead at its end"),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

test("whatever a client asks and however turns end, the next request is valid", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 10 }), (turns) => {
      let all: Numbered[] = [];
      // What a session reads of it: without what earlier rewinds took back.
      let read: Numbered[] = [];
      let newest: Found["newest"] | null = null;
      const add = (entry: Entry) => {
        const numbered = { seq: all.length + 1, entry };
        all = [...all, numbered];
        read = [...read, numbered];
      };
      for (const [index, next] of turns.entries()) {
        const name = `t${index}`;
        let running = name;
        let userSeq = 1;
        if (newest === null) add(user("question 0", name));
        else {
          const request = ask(next, index, all);
          const deferrals = ToolDeferrals.parse(null, "s");
          const found: Found = {
            all,
            lastSeq: all.length,
            deferrals,
            clientSystem: null,
            instructions: null,
            partial: () => [],
            newest,
          };
          const plan = planTurn(found, request, 0);
          expect(planTurn({ ...found, all: read }, request, 0)).toEqual(plan);
          for (const text of plan.append) add(decodeEntry(text));
          const kept = spansBetween(cutSpans(effectiveContext(read), all.length), all.length);
          read = read.filter(({ seq }) => kept.some(([from, last]) => from <= seq && seq <= last));
          if (plan.resumed) running = newest.turn;
          userSeq = plan.userSeq;
          checkNextRequest(all, userSeq, plan.resumed);
          const open = openBatch(effectiveContext(all));
          if (open !== null) add(results(open.seq, ...callsOf(open.entry).map((call) => call.id)));
        }
        play(next, running, add, () => all.length);
        newest = { turn: running, userSeq, status: statusOf(next), refusedFrom: null };
      }
    }),
    { numRuns: 500 },
  );
});

function ask({ asks, at, system }: Turn, index: number, all: readonly Numbered[]) {
  const shown = storedMessages(effectiveContext(all));
  const users = shown.flatMap((message, place) => (message.role === "user" ? [place] : []));
  const place = users[at % users.length] ?? 0;
  const old = shown[place]?.text ?? "";
  const fresh = `question ${index}`;
  const before = shown.slice(0, place);
  const request = (text: string, sent: typeof shown | null) =>
    beginRequest(
      { id },
      {
        turn: `t${index}`,
        user: encodeEntry(user(text, `t${index}`)),
        sent: sent === null ? null : [...sent, { role: "user", text }],
        clientSystem: system,
      },
    );
  const last = shown[users.at(-1) ?? 0]?.text ?? "";
  switch (asks) {
    case "new":
      return request(fresh, shown);
    case "again":
      return request(last, null);
    case "regenerate":
      return request(old, before);
    case "edit":
      return request(fresh, before);
    case "users only":
      return request(last, shown.filter(({ role }) => role === "user").slice(0, -1));
    case "append only":
      return request(fresh, null);
  }
}

function play({ batches, says, ends }: Turn, turn: string, add: (entry: Entry) => void, length: () => number): void {
  for (let batch = 0; batch < batches; batch++) {
    const call = `c${length()}`;
    add(answer(says ? `step ${length()}` : "", turn, call));
    if (ends === "dead in a batch" && batch === batches - 1) return;
    add(results(length(), call));
  }
  if (ends === "done" || ends === "dead at its end") add(answer(`answer ${length()}`, turn));
  if (ends === "cut" || ends === "stopped") add({ ...answer(`piece ${length()}`, turn), stop: ends } as Entry);
}

function statusOf({ ends }: Turn): Found["newest"]["status"] {
  if (ends === "stopped") return "stopped";
  if (ends === "failed" || ends === "cut") return "failed";
  return ends.startsWith("dead") ? "dead" : "done";
}

function checkNextRequest(all: readonly Numbered[], userSeq: number, resumed: boolean): void {
  const effective = effectiveContext(all);
  const pending = openBatch(effective);
  expect(pending === null || resumed).toBe(true);
  // Nothing had to be mended: every call has its one stored result.
  const repaired = repair(effective, pending?.seq ?? null);
  expect(repaired.map(({ seq }) => seq)).toEqual(effective.map(({ seq }) => seq));
  expect(JSON.stringify(repaired)).not.toContain('"missing"');
  // It answers a message that is there, and ends with something to answer.
  expect(effective.find(({ seq }) => seq === userSeq)?.entry.kind).toBe("user");
  const last = effective.at(-1);
  if (pending !== null) expect(last?.seq).toBe(pending.seq);
  else expect(["user", "results"]).toContain(last?.entry.kind);
}
