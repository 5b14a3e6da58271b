import { children, descend, isFunction, type Node, nodeIn, nodesIn, textIn } from "./ast.ts";

/** A node inside a function, with the names that stand between it and the module's own. */
export interface Placed {
  readonly node: Node;
  readonly shadows: ReadonlySet<string>;
}

/** Every node that runs after the module was loaded: those inside functions, each with the names that are local to it. */
export function* insideFunctions(
  node: Node,
  shadows: ReadonlySet<string> = new Set(),
  inside = false,
): Generator<Placed> {
  const entering = inside || isFunction(node);
  const local = entering ? declaredBy(node) : [];
  const seen = local.length === 0 ? shadows : new Set([...shadows, ...local]);
  if (inside) yield { node, shadows: seen };
  for (const child of children(node)) yield* insideFunctions(child, seen, entering);
}

/** The names that a pattern binds: `{ a, b: [c] }` binds a and c. */
export function boundNames(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [textIn(pattern, "name") ?? ""];
    case "ObjectPattern":
      return nodesIn(pattern, "properties").flatMap((property) => boundNames(nodeIn(property, "value") ?? property));
    case "ArrayPattern":
      return nodesIn(pattern, "elements").flatMap(boundNames);
    default: {
      const inner = nodeIn(pattern, "left") ?? nodeIn(pattern, "argument") ?? nodeIn(pattern, "parameter");
      return inner === null ? [] : boundNames(inner);
    }
  }
}

/** The names that entering this node makes local. */
function declaredBy(node: Node): string[] {
  if (isFunction(node)) {
    const own = node.type === "FunctionExpression" ? nodeIn(node, "id") : null;
    return [...(own ? boundNames(own) : []), ...nodesIn(node, "params").flatMap(boundNames), ...varNames(node)];
  }
  if (node.type === "CatchClause") return boundNames(nodeIn(node, "param") ?? node);
  const head = nodeIn(node, "init") ?? (node.type.startsWith("For") ? nodeIn(node, "left") : null);
  return [...(head === null ? [] : [head]), ...nodesIn(node, "body"), ...nodesIn(node, "consequent")].flatMap(
    declaredNames,
  );
}

/** The names that a statement declares. */
export function declaredNames(statement: Node): string[] {
  if (statement.type === "VariableDeclaration") {
    return nodesIn(statement, "declarations").flatMap((declarator) =>
      boundNames(nodeIn(declarator, "id") ?? declarator),
    );
  }
  const id = /^(Function|Class)Declaration$/.test(statement.type) ? nodeIn(statement, "id") : null;
  return id === null ? [] : boundNames(id);
}

/** `var` belongs to the whole function, wherever in it it stands. */
function varNames(node: Node): string[] {
  return [...descend(node, (below) => below === node || !isFunction(below))]
    .filter((below) => below.type === "VariableDeclaration" && below.kind === "var")
    .flatMap(declaredNames);
}
