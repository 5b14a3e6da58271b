/** What D1 does wrong, and what it was sent. */
export interface Faults {
  up: boolean;
  /** How many more batches are taken before the next one fails; null where none is to. */
  failAfter: number | null;
  /** A statement that holds this text is refused, and its batch with it. */
  refuse: string | null;
  /** The next batch waits until it is let go. */
  hold: boolean;
  /** Batches that were taken: how many statements, how many characters they bound, the longest bound text. */
  readonly taken: { statements: number; chars: number; longest: number }[];
  /** Batches that were tried. */
  tried: number;
  /** Statements that were asked by themselves, each with the rows it answered. */
  readonly asked: number[];
  /** A statement that would answer more rows than this fails, as one does whose rows are too large together. */
  mostRows: number;
}

export const NO_FAULTS = { up: true, failAfter: null, refuse: null, hold: false, mostRows: 100_000 } as const;

type Bound = D1PreparedStatement & { readonly real: D1PreparedStatement; readonly values: readonly unknown[] };

/** A real D1 with these faults. `held` is given what lets a held batch go. */
export function faultyD1(db: D1Database, faults: Faults, held: (letGo: () => void) => void): D1Database {
  const check = () => {
    if (!faults.up) throw new Error("D1_ERROR: Network connection lost.");
  };
  const refuse = (values: readonly unknown[]) => {
    const { refuse } = faults;
    if (refuse !== null && values.some((value) => typeof value === "string" && value.includes(refuse))) {
      throw new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
    }
  };
  const over = (real: Pick<D1Database, "prepare" | "batch">) => ({
    prepare: (query: string) => ({
      bind(...values: unknown[]) {
        const bound = real.prepare(query).bind(...values);
        const asked = (method: "run" | "first" | "all") => async () => {
          check();
          refuse(values);
          const answer = await bound[method]();
          const rows = method === "all" ? ((answer as D1Result | null)?.results.length ?? 0) : 1;
          faults.asked.push(rows);
          if (rows > faults.mostRows) throw new Error("D1_ERROR: result too large");
          return answer;
        };
        return { real: bound, values, run: asked("run"), first: asked("first"), all: asked("all") };
      },
    }),
    async batch(statements: Bound[]) {
      faults.tried++;
      if (faults.hold) {
        faults.hold = false;
        await new Promise<void>((letGo) => held(letGo));
      }
      check();
      if (faults.failAfter !== null && faults.failAfter-- === 0) {
        faults.failAfter = null;
        faults.up = false;
        check();
      }
      for (const { values } of statements) refuse(values);
      const lengths = statements.flatMap(({ values }) => values.map((value) => String(value).length));
      const answer = await real.batch(statements.map(({ real }) => real));
      const chars = lengths.reduce((sum, length) => sum + length, 0);
      faults.taken.push({ statements: statements.length, chars, longest: Math.max(...lengths) });
      return answer;
    },
  });
  return { ...over(db), withSession: () => over(db.withSession("first-primary") as never) } as unknown as D1Database;
}
