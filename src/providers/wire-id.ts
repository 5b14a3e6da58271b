import { sha256 } from "../prefix/digest.ts";

/**
 * A call's id as a wire takes it: as it is where it `fits`, otherwise one that follows from it, so that a call and its
 * result agree. Only ids that another provider gave need it.
 */
export function wireId(id: string, fits: RegExp): string {
  return fits.test(id) ? id : `call_${sha256(id).slice(0, 32)}`;
}
