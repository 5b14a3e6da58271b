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
  let count = 0;
  let arrive: (what: T) => void = () => {};
  let open: () => void = () => {};
  const parked = new Promise<T>((resolve) => {
    arrive = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    parked,
    get count() {
      return count;
    },
    release: () => open(),
    wait: (what) => {
      count += 1;
      arrive(what);
      return gate;
    },
  };
}
