/** Every ten seconds D1 is down for three. */
const EVERY_MS = 10_000;
const DOWN_MS = 3_000;

/** Whether D1 is down at that moment, in milliseconds since the epoch. */
export function d1IsDown(ms: number): boolean {
  return ms % EVERY_MS >= EVERY_MS - DOWN_MS;
}
