import type { HoldfastError } from "../values/errors.ts";
import { brokeOff } from "./broke-off.ts";
import type { ModelEvent } from "./contract.ts";
import { IDLE_MS, withIdleLimit } from "./idle-limit.ts";

/**
 * The events of one answer, as `read` makes them of what an SDK reads. `open` sends the request, which ends with the
 * signal that it gets. An answer that breaks off or falls silent is the provider's failure; `refusal` is what the API's
 * own error amounts to, null for any other.
 */
export async function* oneAnswer<E>(
  signal: AbortSignal,
  open: (signal: AbortSignal) => PromiseLike<AsyncIterable<E>>,
  read: (events: AsyncIterable<E>) => AsyncGenerator<ModelEvent>,
  refusal: (error: unknown) => HoldfastError | null,
): AsyncGenerator<ModelEvent> {
  const request = new AbortController();
  let begun = false;
  try {
    const events = await open(AbortSignal.any([signal, request.signal]));
    for await (const event of read(withIdleLimit(events, IDLE_MS))) {
      begun = true;
      yield event;
    }
  } catch (error) {
    const refused = refusal(error);
    if (refused !== null) throw refused;
    if (begun && error instanceof Error && error.name !== "HoldfastError") throw brokeOff(error.name);
    throw error;
  } finally {
    // A body that nobody reads on holds its connection: the SDK can't let go of one that is silent.
    request.abort();
  }
}
