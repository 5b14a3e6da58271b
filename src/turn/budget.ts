/** Model calls that a turn may still make. Those of a sub-session count for the turn that handed the task over, too. */
export class Budget {
  #left: number;
  #taken = 0;
  readonly #parent: Budget | null;

  constructor(left: number, parent: Budget | null = null) {
    this.#left = left;
    this.#parent = parent;
  }

  get left(): number {
    return Math.max(0, Math.min(this.#left, this.#parent?.left ?? Number.POSITIVE_INFINITY));
  }

  /** What was taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes one if there is one left, here and above. */
  take(): boolean {
    if (this.left === 0) return false;
    this.spend(1);
    return true;
  }

  /** Calls that were made elsewhere. */
  spend(calls: number): void {
    this.#left -= calls;
    this.#taken += calls;
    this.#parent?.spend(calls);
  }
}
