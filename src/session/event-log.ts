import { isEnd, type TurnEvent } from "../values/turn-event.ts";

type Piece = Extract<TurnEvent, { type: "text" | "thinking" }>;

/** An event as kept. `cuts`: the numbers of the pieces a text was joined from, and where in it each of them ends. */
interface Kept {
  readonly event: TurnEvent;
  readonly cuts: readonly (readonly [n: number, end: number])[] | null;
}

/**
 * What a turn has told, in order, so that whoever comes later can be told it again. Pieces of text are joined once
 * their step goes on: a long turn's answer then takes its length, and not an object a token.
 */
export class EventLog {
  /** Names the numbering: events of the same number in another log are not the same events. */
  readonly id: string;
  readonly #kept: Kept[] = [];
  /** Where the run of pieces at the end begins, which may still grow. */
  #open = 0;

  constructor(id: string, events: readonly TurnEvent[] = []) {
    this.id = id;
    for (const event of events) this.add(event);
  }

  /** The number of the newest event; 0 before there is one. */
  get last(): number {
    return this.#kept.at(-1)?.event.n ?? 0;
  }

  get ended(): boolean {
    const last = this.#kept.at(-1);
    return last !== undefined && isEnd(last.event);
  }

  get all(): TurnEvent[] {
    return this.#kept.map(({ event }) => event);
  }

  has(type: "call" | "result", id: string): boolean {
    return this.#kept.some(({ event }) => event.type === type && event.id === id);
  }

  add(event: TurnEvent): void {
    const before = this.#kept.at(-1)?.event;
    if (before === undefined || !isPiece(event) || before.type !== event.type || before.step !== event.step) {
      this.#join();
      this.#open = this.#kept.length;
    }
    this.#kept.push({ event, cuts: null });
  }

  /**
   * The events after number `n`, of a text that lies on both sides of it the rest. Where that can't be told apart its
   * step is withdrawn and told again: a reader never misses a part of a text, and never reads one twice.
   */
  after(n: number): TurnEvent[] {
    const at = this.#kept.findIndex(({ event }) => event.n > n);
    const next = this.#kept[at];
    if (next === undefined) return [];
    const rest = this.#kept.slice(at + 1).map(({ event }) => event);
    const before = this.#kept[at - 1]?.event.n ?? 0;
    if (n <= before || !isPiece(next.event)) return [next.event, ...rest];
    const cut = next.cuts?.find(([piece]) => piece === n);
    if (cut !== undefined) return [{ ...next.event, text: next.event.text.slice(cut[1]) }, ...rest];
    const from = this.#kept.findLastIndex(({ event }, index) => index < at && event.type === "request");
    return [
      { type: "withdrawn", step: next.event.step, n },
      ...this.#kept.slice(Math.max(0, from)).map(({ event }) => event),
    ];
  }

  #join(): void {
    const pieces = this.#kept.slice(this.#open).map(({ event }) => event);
    const last = pieces.at(-1);
    if (pieces.length < 2 || last === undefined || !isPiece(last)) return;
    let text = "";
    const cuts = pieces.filter(isPiece).map((piece): readonly [number, number] => {
      text += piece.text;
      return [piece.n, text.length];
    });
    this.#kept.splice(this.#open, pieces.length, { event: { ...last, text }, cuts });
  }
}

function isPiece(event: TurnEvent): event is Piece & { readonly n: number } {
  return event.type === "text" || event.type === "thinking";
}
