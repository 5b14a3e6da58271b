/** Reads an iterable one value at a time, with a patience for each; a value that comes late is the next one. */
export class TimedReader<T> {
  readonly #iterator: AsyncIterator<T>;
  #pending: Promise<IteratorResult<T, unknown>> | null = null;

  constructor(source: AsyncIterable<T>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** The next value, `"idle"` when `ms` milliseconds pass without one, or `"end"`. Throws what the source throws. */
  async next(ms: number): Promise<{ readonly value: T } | "idle" | "end"> {
    this.#pending ??= this.#iterator.next();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const idle = new Promise<"idle">((resolve) => {
      timer = setTimeout(() => resolve("idle"), ms);
    });
    try {
      const result = await Promise.race([this.#pending, idle]);
      if (result === "idle") return "idle";
      this.#pending = null;
      return result.done ? "end" : { value: result.value };
    } finally {
      clearTimeout(timer);
    }
  }
}
