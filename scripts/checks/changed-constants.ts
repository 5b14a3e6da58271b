import { dottedName, type Found, type Node, nodeIn, nodesIn, textIn, topLevel, unwrap } from "./ast.ts";
import { boundNames, insideFunctions } from "./scope.ts";

/** Methods that change the array, map or set that they belong to. */
const MUTATORS = /^(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear)$/;
const MUTATING_FUNCTIONS =
  /^(Object\.(assign|defineProperty|defineProperties|setPrototypeOf)|Reflect\.(set|deleteProperty|defineProperty))$/;
const GLOBALS = /^(globalThis|self)$/;

/** What functions change although this module, or one that it imports, holds it. */
export function changedConstants(program: Node): Found[] {
  const constants = constantsOf(program);
  return [...insideFunctions(program)].flatMap(({ node, shadows }) =>
    targetsOf(node, constants).flatMap((target) => {
      const name = rootName(target);
      if (name === null || shadows.has(name)) return [];
      if (GLOBALS.test(name)) return [{ node, name, message: "is changed: a global is everybody's" }];
      return constants.has(name) ? [{ node, name, message: "is changed, and the module holds it" }] : [];
    }),
  );
}

/** The expressions whose object this node changes. */
function targetsOf(node: Node, constants: ReadonlyMap<string, Node | null>): Node[] {
  switch (node.type) {
    case "AssignmentExpression":
      return memberTargets(nodeIn(node, "left"));
    case "ForOfStatement":
    case "ForInStatement":
      return memberTargets(nodeIn(node, "left"));
    case "UpdateExpression":
      return memberTargets(nodeIn(node, "argument"));
    case "UnaryExpression":
      return node.operator === "delete" ? memberTargets(nodeIn(node, "argument")) : [];
    case "CallExpression":
      return calledTargets(node, constants);
    default:
      return [];
  }
}

/** The member expressions in an assignment's left side, patterns included. */
function memberTargets(left: Node | null): Node[] {
  if (left === null) return [];
  const target = unwrap(left);
  if (target.type === "MemberExpression") return [target];
  if (target.type === "ObjectPattern") {
    return nodesIn(target, "properties").flatMap((property) =>
      memberTargets(nodeIn(property, "value") ?? nodeIn(property, "argument")),
    );
  }
  if (target.type === "ArrayPattern") return nodesIn(target, "elements").flatMap(memberTargets);
  return /^(AssignmentPattern|RestElement)$/.test(target.type)
    ? memberTargets(nodeIn(target, "left") ?? nodeIn(target, "argument"))
    : [];
}

function calledTargets(call: Node, constants: ReadonlyMap<string, Node | null>): Node[] {
  const callee = unwrap(nodeIn(call, "callee") ?? call);
  const first = nodesIn(call, "arguments")[0];
  if (MUTATING_FUNCTIONS.test(dottedName(callee) ?? "")) return first === undefined ? [] : [first];
  if (callee.type !== "MemberExpression") return [];
  const object = nodeIn(callee, "object");
  const property = nodeIn(callee, "property");
  const method = property && callee.computed !== true ? (textIn(property, "name") ?? "") : "";
  if (object === null) return [];
  const value = constants.get(rootName(object) ?? "") ?? null;
  if (value === null) return [];
  const isContainer = /^(Array|Object)Expression$/.test(value.type) || value.type === "NewExpression";
  if (isContainer && MUTATORS.test(method)) return [object];
  // A pattern with g or y remembers where it stopped; matchAll and replace start afresh, test and exec do not.
  const flags = value.type === "Literal" && typeof value.regex === "object" ? String(Object(value.regex).flags) : "";
  return /[gy]/.test(flags) && /^(test|exec)$/.test(method) ? [object] : [];
}

/** `TABLE` of `TABLE.rows[3]!.name`, or null where the expression starts with anything but a name. */
function rootName(expression: Node): string | null {
  let node = unwrap(expression);
  while (node.type === "MemberExpression") node = unwrap(nodeIn(node, "object") ?? node);
  return node.type === "Identifier" ? textIn(node, "name") : null;
}

/** The module's constants with their values; null for what another module of ours made. */
function constantsOf(program: Node): Map<string, Node | null> {
  const constants = new Map<string, Node | null>();
  for (const statement of topLevel(program)) {
    if (statement.type === "ImportDeclaration") {
      const source = textIn(nodeIn(statement, "source") ?? statement, "value");
      const locals = source?.startsWith(".")
        ? nodesIn(statement, "specifiers").map((specifier) => nodeIn(specifier, "local"))
        : [];
      for (const local of locals) if (local !== null) constants.set(textIn(local, "name") ?? "", null);
    }
    if (statement.type !== "VariableDeclaration") continue;
    for (const declarator of nodesIn(statement, "declarations")) {
      const id = nodeIn(declarator, "id");
      const init = nodeIn(declarator, "init");
      for (const name of id === null ? [] : boundNames(id)) constants.set(name, init && thawed(init));
    }
  }
  return constants;
}

/** The value itself, where it is wrapped in `Object.freeze`. */
function thawed(init: Node): Node {
  const value = unwrap(init);
  const isFrozen = value.type === "CallExpression" && dottedName(nodeIn(value, "callee") ?? value) === "Object.freeze";
  return isFrozen ? unwrap(nodesIn(value, "arguments")[0] ?? value) : value;
}
