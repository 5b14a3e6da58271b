/** A tool as marking sees it. `searchOnly`: in the catalog, found only by search, not active now. */
export interface Markable {
  readonly name: string;
  readonly searchOnly?: boolean;
}

/** The same tool with its mark: `loadPoint` is the id of the tool call at which it became part of the session. */
export type Marked<T extends Markable> = T & { readonly loadPoint?: string };

/**
 * Which tools a session's first model call had, and at which tool call each later one came in. Belongs to the session:
 * no runtime holds it between turns. The rule is that of docker-agent's deferral tracker (docker-agent #4685); see design §3.1.
 *
 * `initial` is null until the first model call: "no baseline yet" differs from "a baseline of no tools".
 */
export class ToolDeferrals {
  #initial: string[] | null = null;
  #loadPoints = new Map<string, string>();
  #rest: Record<string, unknown> = {};

  /**
   * Reads a stored value. `null` is no baseline. Fields that this release does not know are kept.
   * Throws an error that names the session when the text is not such a value: a baseline is never lost silently.
   */
  static parse(text: string | null, session: string): ToolDeferrals {
    const deferrals = new ToolDeferrals();
    if (text === null) return deferrals;
    const bad = (what: string) => new Error(`tool deferrals of session ${session} are malformed: ${what}`);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw bad("not JSON");
    }
    if (!isRecord(value)) throw bad("not an object");
    const { initial, loadPoints, ...rest } = value;
    if (initial !== null && !(Array.isArray(initial) && initial.every((name) => typeof name === "string"))) {
      throw bad("initial is not a list of names");
    }
    if (!isRecord(loadPoints)) throw bad("loadPoints is not an object");
    if (initial === null && Object.keys(loadPoints).length > 0) throw bad("loadPoints without a baseline");
    for (const [name, id] of Object.entries(loadPoints)) {
      if (typeof id !== "string" || id === "") throw bad(`loadPoints.${name} is not a tool call id`);
      deferrals.#loadPoints.set(name, id);
    }
    deferrals.#initial = initial === null ? null : [...initial];
    deferrals.#rest = rest;
    return deferrals;
  }

  /** Names of the first model call, in order; null when there was none yet. */
  get initial(): readonly string[] | null {
    return this.#initial;
  }

  /** Name to tool call id, in the order the names came in. */
  get loadPoints(): ReadonlyMap<string, string> {
    return this.#loadPoints;
  }

  /**
   * Marks `tools` for a model call. The first time it records the names of all that are not search-only and marks
   * nothing. Later a name outside that baseline gets `toolCallId` as its load point, once and for good; without an id
   * it stays inline and nothing is recorded. The input is not touched; `marked` is a fresh list in the same order.
   * `changed` is true in exactly two cases: the baseline was recorded, or at least one load point was.
   */
  markAt<T extends Markable>(
    toolCallId: string | null,
    tools: readonly T[],
  ): { marked: Marked<T>[]; changed: boolean } {
    if (this.#initial === null) {
      this.#initial = tools.filter((tool) => !tool.searchOnly).map((tool) => tool.name);
      return { marked: tools.map((tool) => ({ ...tool })), changed: true };
    }
    const baseline = new Set(this.#initial);
    let changed = false;
    const marked = tools.map((tool): Marked<T> => {
      if (tool.searchOnly || baseline.has(tool.name)) return { ...tool };
      let loadPoint = this.#loadPoints.get(tool.name);
      if (loadPoint === undefined) {
        if (!toolCallId) return { ...tool };
        loadPoint = toolCallId;
        this.#loadPoints.set(tool.name, loadPoint);
        changed = true;
      }
      return { ...tool, loadPoint };
    });
    return { marked, changed };
  }

  /** Names of those tools that {@link markAt} would have to give a load point. */
  late(tools: readonly Markable[]): string[] {
    if (this.#initial === null) return [];
    const baseline = new Set(this.#initial);
    return tools
      .filter((tool) => !tool.searchOnly && !baseline.has(tool.name) && !this.#loadPoints.has(tool.name))
      .map((tool) => tool.name);
  }

  /** Forgets everything: the next call records a new baseline. */
  reset(): void {
    this.#initial = null;
    this.#loadPoints = new Map();
  }

  /** A deep copy. */
  clone(): ToolDeferrals {
    return ToolDeferrals.parse(JSON.stringify(this), "copy");
  }

  toJSON(): { initial: string[] | null; loadPoints: Record<string, string> } {
    return { initial: this.#initial, loadPoints: Object.fromEntries(this.#loadPoints), ...this.#rest };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
