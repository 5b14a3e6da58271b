/** A tool that a successful result speaks for, and the entry of its first such result. */
export interface Evidence {
  readonly name: string;
  readonly seq: number;
}
