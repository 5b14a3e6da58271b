import { parseSync } from "vite";
import type { SourceFile } from "./source.ts";

/** A node of the ESTree that the bundler's parser gives; which fields it has follows from `type`. */
export interface Node {
  readonly type: string;
  /** Offsets into the file's text. */
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/**
 * The file's program node, types included.
 * @throws when the file is no TypeScript.
 */
export function parse(file: SourceFile): Node {
  const { program, errors } = parseSync(file.path, file.text);
  const first = errors[0];
  if (first !== undefined) throw new Error(`${file.path}: ${first.message}`);
  const root: unknown = program;
  if (!isNode(root)) throw new Error(`${file.path}: the parser gave no program.`);
  return root;
}

/** The node in a field, or null where the field holds none. */
export function nodeIn(node: Node, field: string): Node | null {
  const value = node[field];
  return isNode(value) ? value : null;
}

/** The nodes of a field that holds a list; gaps of array patterns are left out. */
export function nodesIn(node: Node, field: string): Node[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The text of a field (`name`, `kind`, `operator`, the value of a string literal), or null. */
export function textIn(node: Node, field: string): string | null {
  const value = node[field];
  return typeof value === "string" ? value : null;
}

/** All nodes directly below, in the order of their fields. */
export function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** The node and everything below it, parents first. `enter` answers whether to go below a node. */
export function* descend(node: Node, enter: (node: Node) => boolean = () => true): Generator<Node> {
  yield node;
  if (!enter(node)) return;
  for (const child of children(node)) yield* descend(child, enter);
}

export function isFunction(node: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

/** The expression without the wrappers that do nothing when it runs: `as`, `satisfies`, `!`, brackets, `?.` chains. */
export function unwrap(node: Node): Node {
  let inner = node;
  while (
    /^(TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|TSTypeAssertion|ParenthesizedExpression|ChainExpression)$/.test(
      inner.type,
    )
  ) {
    const next = nodeIn(inner, "expression");
    if (next === null) return inner;
    inner = next;
  }
  return inner;
}

/** Something about a name that a check does not allow. */
export interface Found {
  readonly node: Node;
  readonly name: string;
  readonly message: string;
}

/** The module's statements, those behind `export` included. */
export function topLevel(program: Node): Node[] {
  return nodesIn(program, "body").map((statement) =>
    /^Export(Named|Default)Declaration$/.test(statement.type)
      ? (nodeIn(statement, "declaration") ?? statement)
      : statement,
  );
}

/** `Object.freeze` for the expression of that shape, `Set` for a name; null for anything else. */
export function dottedName(node: Node): string | null {
  const inner = unwrap(node);
  if (inner.type === "Identifier") return textIn(inner, "name");
  if (inner.type !== "MemberExpression" || inner.computed === true) return null;
  const object = nodeIn(inner, "object");
  const property = nodeIn(inner, "property");
  const left = object && dottedName(object);
  return left && property ? `${left}.${textIn(property, "name")}` : null;
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}
