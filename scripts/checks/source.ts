import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A TypeScript file of the project. `path` is relative to the project's root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Something that a check found. `line` counts from 1. */
export interface Problem {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Every `.ts` file below `root/folder`, in the order of their paths. */
export function readSources(root: string, folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** The line, counted from 1, of an offset into the text. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
