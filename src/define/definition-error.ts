/** A definition that can't work, found when the worker starts. The message names the agent and the tool. */
export class DefinitionError extends Error {
  readonly agent: string | null;
  readonly tool: string | null;
  constructor(problem: string, where: { readonly agent?: string; readonly tool?: string }) {
    const place = [
      ...(where.agent === undefined ? [] : [`agent "${where.agent}"`]),
      ...(where.tool === undefined ? [] : [`tool "${where.tool}"`]),
    ];
    super(place.length > 0 ? `${place.join(", ")}: ${problem}` : problem);
    this.name = "DefinitionError";
    this.agent = where.agent ?? null;
    this.tool = where.tool ?? null;
  }
}
