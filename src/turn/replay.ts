import type { SessionApi, TurnStart } from "../session/contract.ts";
import { EventLog } from "../session/event-log.ts";

/** What a turn that goes on here has told so far, elsewhere. */
export async function replayed(session: Pick<SessionApi, "replay">, { fence, turn }: TurnStart): Promise<EventLog> {
  let log: EventLog | null = null;
  for (;;) {
    const page = await session.replay(fence, log?.last ?? 0);
    if (page === null) return log ?? new EventLog(turn);
    if (page.log !== log?.id) log = new EventLog(page.log);
    for (const event of page.events) log.add(event);
    if (page.events.length === 0) return log;
  }
}
