/** Either what some work came to in time, or why it did not. */
export type Within<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** Waits for `work` at most `ms` milliseconds and never throws. What comes later is dropped. */
export async function within<T>(ms: number, work: () => Promise<T>): Promise<Within<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Within<T>>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, why: `not done within ${ms} ms` }), ms);
  });
  try {
    return await Promise.race([outcome(work), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function outcome<T>(work: () => Promise<T>): Promise<Within<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (thrown) {
    return { ok: false, why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
