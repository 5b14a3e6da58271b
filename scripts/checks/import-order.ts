import { posix } from "node:path";
import { descend, type Node, nodeIn, nodesIn, parse, textIn } from "./ast.ts";
import { lineAt, type Problem, type SourceFile } from "./source.ts";

/**
 * The rows of `src/`, highest first: each imports only from itself and from rows below it. `worker` reads like a user's
 * own worker, so it stands above `index`, whose public names it uses.
 */
export const ROWS: readonly string[] = [
  "worker",
  "testing",
  "index",
  "page",
  "surfaces",
  "http",
  "turn",
  "session",
  "toolkit",
  "mcp",
  "egress",
  "providers",
  "define",
  "catalog",
  "context",
  "prefix",
  "values",
];

/** Rows that the order alone would let know each other. */
const STRANGERS: readonly (readonly [string, string])[] = [["session", "providers"]];

/** The framework for HTTP. Rows below `http` may not know it. */
const HTTP_PACKAGE = "hono";

/** Types of the bindings: erased when the worker is built, so they may name any row and any row may name them. */
const ENV = "src/env.ts";

/** Every import, type import and re-export in `src/` that the layout does not allow. */
export function checkImportOrder(files: readonly SourceFile[]): Problem[] {
  return files.filter((file) => file.path.startsWith("src/")).flatMap(checkFile);
}

function checkFile(file: SourceFile): Problem[] {
  const program = parse(file);
  const at = (node: Node, message: string): Problem => ({
    path: file.path,
    line: lineAt(file.text, node.start),
    message,
  });
  if (file.path === ENV) return runningStatements(program).map((node) => at(node, "holds more than types"));

  const row = rowOf(file.path);
  if (row === null) return [at(program, "has no place in the layout (see CONTRIBUTING.md)")];
  return importsOf(program).flatMap(({ node, specifier }) => {
    const reason = refusal(file.path, row, specifier);
    return reason === null ? [] : [at(node, reason)];
  });
}

/** Why a file of this row can't import that, or null where it can. */
function refusal(path: string, row: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) {
    if (row === "values") return `imports ${specifier}, and values imports nothing outside itself`;
    const knowsHttp = rank(row) <= rank("http");
    return isHttpPackage(specifier) && !knowsHttp ? `imports ${specifier}, and nothing below http knows HTTP` : null;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (target === ENV) return row === "values" ? "imports env.ts, and values imports nothing outside itself" : null;
  if (path === "src/testing.ts" && target.startsWith("test/emulators/")) return null;
  if (!target.startsWith("src/")) return `imports ${target}, which is outside src`;

  const targetRow = rowOf(target);
  if (targetRow === null) return `imports ${target}, which has no place in the layout`;
  if (rank(targetRow) < rank(row)) return `imports ${target}, and ${targetRow} stands above ${row}`;
  const strangers = STRANGERS.some((pair) => row !== targetRow && pair.includes(row) && pair.includes(targetRow));
  return strangers ? `imports ${target}, and ${row} and ${targetRow} know nothing of each other` : null;
}

function rank(row: string): number {
  return ROWS.indexOf(row);
}

/** `turn` of `src/turn/run.ts`, `index` of `src/index.ts` and `src/index.node.ts`; null where there is no such row. */
function rowOf(path: string): string | null {
  const row = path.split("/")[1]?.replace(/(\.node)?\.ts$/, "") ?? "";
  return rank(row) === -1 ? null : row;
}

function isHttpPackage(specifier: string): boolean {
  return specifier === HTTP_PACKAGE || specifier.startsWith(`${HTTP_PACKAGE}/`);
}

function importsOf(program: Node): { node: Node; specifier: string }[] {
  const found: { node: Node; specifier: string }[] = [];
  for (const node of descend(program)) {
    if (!/^(Import|Export|TSImport|TSExternalModuleReference)/.test(node.type)) continue;
    const source =
      nodeIn(node, "source") ?? (node.type === "TSExternalModuleReference" ? nodeIn(node, "expression") : null);
    const specifier = source && textIn(source, "value");
    if (specifier) found.push({ node, specifier });
  }
  return found;
}

/** What would run when the module is loaded. */
function runningStatements(program: Node): Node[] {
  return nodesIn(program, "body").filter((node) => {
    if (node.declare === true || /^TS(Interface|TypeAlias|Global)/.test(node.type)) return false;
    if (node.type === "ImportDeclaration") return node.importKind !== "type";
    if (node.type !== "ExportNamedDeclaration") return true;
    if (node.exportKind === "type") return false;
    const declaration = nodeIn(node, "declaration");
    // `export {}` makes a module of a file that declares globals.
    if (declaration === null) return nodesIn(node, "specifiers").length > 0 || nodeIn(node, "source") !== null;
    return !/^TS(Interface|TypeAlias)/.test(declaration.type);
  });
}
