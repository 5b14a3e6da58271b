import {
  descend,
  dottedName,
  type Found,
  isFunction,
  type Node,
  nodeIn,
  nodesIn,
  textIn,
  topLevel,
  unwrap,
} from "./ast.ts";
import { boundNames } from "./scope.ts";

/** Made at module level, these keep nothing from one use to the next. */
const STATELESS = /^(RegExp|TextEncoder|URL|URLPattern|Error|AsyncLocalStorage|Intl\.\w+)$/;
const COLLECTIONS = /^(Map|Set|WeakMap|WeakSet)$/;
const READONLY_COLLECTION = /^Readonly(Map|Set)$/;

/** What a module declares so that it can change: variables, collections, static fields. */
export function heldState(program: Node): Found[] {
  return topLevel(program).flatMap((statement): Found[] => {
    if (statement.declare === true) return [];
    if (statement.type === "ClassDeclaration") return classFields(statement);
    // `export default` of an expression, which has no name of its own.
    if (!/(Declaration|Statement)$/.test(statement.type)) return constructed(statement, null, "default");
    if (statement.type !== "VariableDeclaration") return [];
    const kind = textIn(statement, "kind") ?? "";
    return nodesIn(statement, "declarations").flatMap((declarator) => {
      const id = nodeIn(declarator, "id");
      const name = id === null ? "" : boundNames(id).join(", ");
      if (kind === "let" || kind === "var") return [{ node: statement, name, message: `is a module-level ${kind}` }];
      return constructed(nodeIn(declarator, "init"), id, name);
    });
  });
}

function classFields(statement: Node): Found[] {
  const className = textIn(nodeIn(statement, "id") ?? statement, "name") ?? "default";
  const body = nodeIn(statement, "body");
  return nodesIn(body ?? statement, "body").flatMap((field) => {
    if (field.type !== "PropertyDefinition" || field.static !== true) return [];
    const key = nodeIn(field, "key");
    const name = `${className}.${(key && textIn(key, "name")) ?? "?"}`;
    if (field.readonly !== true) return [{ node: field, name, message: "is a static field that can change" }];
    return constructed(nodeIn(field, "value"), field, name);
  });
}

/** Objects with a life of their own that a constant holds, anywhere in its value. `typed` carries the annotation. */
function constructed(init: Node | null, typed: Node | null, name: string): Found[] {
  if (init === null) return [];
  const annotation = typed && nodeIn(typed, "typeAnnotation");
  const type = annotation && nodeIn(annotation, "typeAnnotation");
  const typeName = type && nodeIn(type, "typeName");
  const isReadonly = READONLY_COLLECTION.test((typeName && textIn(typeName, "name")) ?? "");
  const isOuter = (node: Node) => node === unwrap(init);
  return [...descend(init, (node) => !isFunction(node))].flatMap((node) => {
    const made = node.type === "NewExpression" ? dottedName(nodeIn(node, "callee") ?? node) : null;
    if (made === null || STATELESS.test(made)) return [];
    if (!COLLECTIONS.test(made)) return [{ node, name, message: `holds a ${made}, which may keep state` }];
    // Inside a larger constant the annotation of the whole says how the collection can be used.
    const isSafe = /^(Map|Set)$/.test(made) && (isOuter(node) ? isReadonly : type !== null);
    return isSafe ? [] : [{ node, name, message: `holds a ${made} without a read-only type` }];
  });
}
