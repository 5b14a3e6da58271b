import type { ToolSpec } from "../../src/values/tool.ts";
import { LAZY_SPECS } from "../cache/catalog.ts";

/** A catalog of so many tools: those of the cache benchmark, again and again, each time of another department. */
export function catalogOf(count: number): ToolSpec[] {
  return Array.from({ length: count }, (_, index) => {
    const spec = LAZY_SPECS[index % LAZY_SPECS.length] as ToolSpec;
    const department = Math.floor(index / LAZY_SPECS.length);
    return {
      ...spec,
      name: department === 0 ? spec.name : `${spec.name}_${department}`,
      description: `${spec.description} Department ${department}.`,
    };
  });
}
