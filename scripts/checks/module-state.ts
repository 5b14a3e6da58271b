import { parse } from "./ast.ts";
import { changedConstants } from "./changed-constants.ts";
import { heldState } from "./held-state.ts";
import { lineAt, type Problem, type SourceFile } from "./source.ts";

/** A name that may hold state although a module holds it. */
export interface Allowed {
  readonly path: string;
  readonly name: string;
  readonly reason: string;
}

/**
 * State that a module of `src/` would carry from one request, session or owner to the next: variables, collections that
 * are not read-only, fields of classes, constants that some function changes. An alias (`const same = TABLE; same.n = 1`)
 * and what a call gave (`const counter = makeCounter()`) are not looked through.
 */
export function checkModuleState(files: readonly SourceFile[], allowed: readonly Allowed[]): Problem[] {
  const used = new Set<Allowed>();
  const problems = files
    .filter((file) => file.path.startsWith("src/"))
    .flatMap((file) => {
      const program = parse(file);
      const found = [...heldState(program), ...changedConstants(program)];
      return found.flatMap(({ node, name, message }) => {
        const pass = allowed.find((entry) => entry.path === file.path && entry.name === name);
        if (pass !== undefined) used.add(pass);
        return pass === undefined
          ? [{ path: file.path, line: lineAt(file.text, node.start), message: `${name} ${message}` }]
          : [];
      });
    });
  const stale = allowed.filter((entry) => !used.has(entry));
  return [
    ...problems,
    ...stale.map(({ path, name }) => ({ path, line: 1, message: `${name} needs no place on the allow-list any more` })),
  ];
}
