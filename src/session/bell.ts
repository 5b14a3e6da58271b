/** Wakes all who wait for the next thing that happens. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when it rings next, or after so many milliseconds. */
  async next(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}
