/** What a provider says of its own cache about one request. */
export interface Diagnosis {
  /** Why it could not reuse all of the request before; null where it could, `pending` where it did not know in time. */
  readonly missReason: string | null;
  /** About how many tokens that cost. */
  readonly missedTokens?: number;
}
