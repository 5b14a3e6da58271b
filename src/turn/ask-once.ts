import type { ModelEvent, ProviderDeps } from "../providers/contract.ts";
import { type Failure, failureOf } from "../values/errors.ts";
import { Answer } from "./answer.ts";
import type { Model } from "./settings.ts";

/** What came of one call of a model. Times in milliseconds since the epoch; `firstAt` is null where nothing came. */
export interface AskedOnce {
  readonly answer: Answer;
  /** Why the answer did not come to its end; null where it did. */
  readonly failure: Failure | null;
  readonly startedAt: number;
  readonly firstAt: number | null;
}

/** Sends a request to a model and takes what it answers; `each` sees every event first. Never rejects. */
export async function askOnce(
  { provider, name }: Pick<Model, "provider" | "name">,
  body: string,
  deps: ProviderDeps,
  now: () => number,
  each: (event: ModelEvent) => void = () => {},
): Promise<AskedOnce> {
  const answer = new Answer();
  const startedAt = now();
  let firstAt: number | null = null;
  let failure: Failure | null = null;
  try {
    for await (const event of provider.stream(name, body, deps)) {
      firstAt ??= now();
      each(event);
      answer.take(event);
    }
  } catch (error) {
    failure = failureOf(error);
  }
  return { answer, failure, startedAt, firstAt };
}
