/**
 * A place where an answer waits until a test lets it go on, so that a client can be killed at a chosen point.
 * `T` says what was parked.
 */
export interface Parking<T> {
  /** Resolves with the first that is parked. */
  readonly parked: Promise<T>;
  /** How many have been parked so far. */
  readonly count: number;
  /** Lets all that wait, and all that come later, go on. */
  release(): void;
  /** Waits until `release()`. Called by the emulator. */
  wait(what: T): Promise<void>;
}

/** A new, empty parking. */
export function createParking<T>(): Parking<T> {
  const first = Promise.withResolvers<T>();
  const gate = Promise.withResolvers<void>();
  let count = 0;
  return {
    parked: first.promise,
    get count() {
      return count;
    },
    release: () => gate.resolve(),
    wait: (what) => {
      count += 1;
      first.resolve(what);
      return gate.promise;
    },
  };
}
