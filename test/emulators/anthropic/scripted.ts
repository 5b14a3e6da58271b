import { anthropic } from "../../../src/providers/anthropic/provider.ts";
import { readStream } from "../../../src/providers/anthropic/stream.ts";
import type { Provider } from "../../../src/providers/contract.ts";
import { HoldfastError } from "../../../src/values/errors.ts";
import { flatten } from "../common/answer.ts";
import type { Answer } from "./answer.ts";
import { LocalModel } from "./local.ts";

/** A model that answers from a script, in process. */
export interface ScriptedModel {
  /** To be given to `testAgent`, or to `holdfast({ providers: { scripted: … } })` with the model `scripted/claude-sonnet-5`. */
  readonly provider: Provider;
  /** The bodies of the requests it got. */
  readonly requests: readonly string[];
  /** Adds answers, one for each request to come. */
  script(...answers: readonly Answer[]): void;
}

/**
 * A model that gives these answers, one a request. It is as strict as the emulator: a request that the API would refuse
 * fails the turn with the API's sentence, and so does a script that calls a tool which the request does not show.
 */
export function scripted(...answers: readonly Answer[]): ScriptedModel {
  const local = new LocalModel();
  const requests: string[] = [];
  const left = [...answers];
  const provider: Provider = {
    ...anthropic,
    name: "scripted",
    missing: () => null,
    async *stream(_model, body) {
      requests.push(body);
      const received = local.receive(body);
      if (received.kind === "refused") {
        const { status, type, message } = received.failure;
        throw new HoldfastError({ reason: "provider", status, type, message });
      }
      const answer = left.shift();
      if (answer === undefined) throw new Error(`no answer is left for request ${requests.length}`);
      const parts = flatten(answer);
      const [failed] = parts;
      if (failed?.kind === "http") {
        const { status, type, message } = failed;
        throw new HoldfastError({ reason: "provider", status, type, message });
      }
      const events = received.answer(parts);
      yield* readStream(
        (async function* () {
          yield* events;
        })(),
      );
    },
  };
  return { provider, requests, script: (...more) => left.push(...more) };
}
