import { hash } from "node:crypto";

/** An id like the API's, the same for the same request: a prefix, the request's number, a hash of what it is for. */
export function mintId(prefix: string, n: number, seed: string): string {
  return `${prefix}${String(n).padStart(4, "0")}${hash("sha256", seed, "hex").slice(0, 20)}`;
}

/** Mints the ids within one answer: each call gives another one. */
export function minter(n: number, bodyText: string): (prefix: string) => string {
  let minted = 0;
  return (prefix) => {
    minted += 1;
    return mintId(prefix, n, `${minted} ${bodyText}`);
  };
}
