import { HoldfastError } from "../values/errors.ts";

/** An answer that broke off after it had begun. `detail` goes to the log: it quotes nothing that came. */
export function brokeOff(detail: string): HoldfastError {
  return new HoldfastError({
    reason: "provider",
    status: null,
    type: "connection",
    message: "The connection to the model provider broke off in mid-answer.",
    detail,
  });
}
