import { descend, dottedName, type Node, nodeIn, nodesIn, parse } from "./ast.ts";
import { lineAt, type Problem, type SourceFile } from "./source.ts";

/** Rows whose functions give the same answer for the same values, always and everywhere. */
const PURE = /^src\/(catalog|context|prefix|values)\//;

/** Clock, chance, time and network: what the edge reads and passes in. */
const IMPURE: ReadonlySet<string> = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "setTimeout",
  "setInterval",
  "fetch",
]);

/** Every use of clock, chance, time or network in the pure rows. */
export function checkPure(files: readonly SourceFile[]): Problem[] {
  return files
    .filter((file) => PURE.test(file.path))
    .flatMap((file) =>
      [...descend(parse(file))].flatMap((node) => {
        const name = impureName(node);
        if (name === null) return [];
        return [
          {
            path: file.path,
            line: lineAt(file.text, node.start),
            message: `${name} in a pure module: pass the value in`,
          },
        ];
      }),
    );
}

/** A name counts where it is used, called or not, so that passing `Date.now` along is found too. */
function impureName(node: Node): string | null {
  const callee = nodeIn(node, "callee");
  if (callee !== null) {
    const name = dottedName(callee);
    if (name === "Date" && (node.type === "CallExpression" || nodesIn(node, "arguments").length === 0))
      return "the date of now";
    if (callee.type === "Identifier") return name !== null && IMPURE.has(name) ? name : null;
  }
  if (node.type !== "MemberExpression") return null;
  const name = dottedName(node)?.replace(/^globalThis\./, "");
  return name !== undefined && IMPURE.has(name) ? name : null;
}
