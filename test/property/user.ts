import { AGENT_MODE } from "../../src/catalog/catalog.ts";
import { type SentMessage, storedMessages } from "../../src/context/align-history.ts";
import { uncompacted } from "../../src/context/effective.ts";
import type { Answering, Mode, Revival, Turn } from "./history.ts";
import { entriesOf, messagesOf } from "./place.ts";
import { takeTurn } from "./turns.ts";
import type { World } from "./world.ts";

/** What makes a message too long for a compaction to keep it. */
const LONG = " pad".repeat(400);

/** What the client sends: its messages where it shows its history, else only the new one. */
export async function sentBy(
  { findings, here }: World,
  turn: Turn,
  index: number,
): Promise<{ sent: SentMessage[] | null; text: string }> {
  const fresh = `Message ${index}.${index % 3 === 1 ? LONG : ""}`;
  findings.seen.add(`client ${turn.client}`);
  if (turn.system !== null) {
    if (turn.client !== "message") here.checker.rewound(Math.max(0, (await messagesOf(here)) - 1));
    findings.seen.add("client system");
    // The message it speaks for may be told anew behind it.
    here.checker.allow("rewind");
  }
  if (index === 0 || turn.client === "message") return { sent: null, text: fresh };
  if (turn.client === "again") return { sent: null, text: here.lastText };
  const stored = storedMessages(uncompacted(await entriesOf(here)));
  const users = stored.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  const last = users[Math.max(0, users.length - 1 - turn.back)];
  here.checker.rewound(Math.max(0, users.length - 1 - turn.back));
  if (last === undefined) return { sent: null, text: fresh };
  const before = stored.slice(0, last).map(({ role, text }) => ({ role, text }));
  const text = turn.client === "edit" ? `${fresh} Edited.` : (stored[last]?.text ?? fresh);
  here.checker.allow("rewind");
  here.expected.clear();
  return { sent: [...before, { role: "user", text }], text };
}

/** Answers what waits, and goes on with the turn. */
export async function answerPauses(
  world: World,
  { approve, answers }: Answering,
  revivals: readonly Revival[],
): Promise<void> {
  const { findings, here } = world;
  const pauses = (await here.session.pauses()) ?? [];
  const mode = (await here.session.summary())?.mode;
  const expected = approve && pauses.some(({ kind }) => kind === "plan") ? AGENT_MODE : mode;
  for (const { id, kind } of pauses) {
    const decided = approve ? ({ decision: "approve" } as const) : ({ decision: "deny", reason: `No ${id}.` } as const);
    const answer = kind === "question" ? ({ kind, answer: `Answer ${id}.` } as const) : ({ kind, ...decided } as const);
    const outcome = await here.session.answer(id, answer);
    if (outcome?.kind !== "answered") throw findings.broken(`an answer to a pause is ${JSON.stringify(outcome)}`);
    if (answer.kind === "question") here.expected.add(answer.answer);
    findings.seen.add(kind === "question" ? "pause answered" : `plan ${decided.decision}`);
    if (!outcome.goesOn) continue;
    world.began = null;
    await takeTurn(world, { text: "", answers, revivals, goOn: true });
    requireBegun(world, expected);
    if (world.gone.has(here)) return;
  }
}

/** Puts the session into a mode, if it is there. */
export async function toMode({ findings, here }: World, mode: Mode): Promise<void> {
  const outcome = await here.session.patch({ v: 1, mode });
  if (outcome?.kind === "ok") findings.seen.add(`mode ${mode}`);
}

function requireBegun({ began, findings }: World, expected: string | undefined): void {
  if (began === null || began === expected) return;
  throw findings.broken(`a turn goes on in the mode ${began}, and not in ${expected}`);
}
