/** What the rules look at of a request, whoever's API it is for. */
export interface WireView {
  /** What the request defines. `deferred`: outside the list that stands in front of everything, so it needs a load. */
  readonly declared: readonly { readonly name: string; readonly deferred: boolean }[];
  /** The calls of the history: name by id. */
  readonly calls: ReadonlyMap<string, string>;
  /** The ids of calls whose result is a failure. */
  readonly failed: ReadonlySet<string>;
  /** The names that loads bring, each as often as it is brought. */
  readonly loads: readonly string[];
  /** What results say. */
  readonly said: readonly string[];
  /** The id of the load of ours that stands beside a load point. */
  companionOf(loadPoint: string): string;
}

/**
 * What no API refuses and no request of ours may show (design §3.1 to §3.4): a call in the history whose tool is not
 * declared though the session shows it (`shown`), or one that a search says it loaded; a lazy tool that is declared before anything loaded it (`loaded` remembers
 * what did, over all requests of the session: a baseline outlives a rewind); a deferred tool that is not loaded exactly
 * once, for its load point never moves; a load point at a call that failed.
 */
export function wireProblems(view: WireView, shown: readonly string[], loaded: Set<string>): string[] {
  const names = new Set(view.declared.map(({ name }) => name));
  for (const name of [...view.calls.values(), ...view.loads]) loaded.add(name);
  for (const text of view.said) for (const [name] of text.matchAll(/\blazy_\d\b/g)) loaded.add(name);
  const problems: string[] = [];
  for (const [id, name] of view.calls) {
    if (!names.has(name) && !view.failed.has(id) && shown.includes(name))
      problems.push(`${name} was called and is not declared`);
  }
  for (const name of view.said.flatMap(namesLoaded)) {
    if (!names.has(name) && shown.includes(name)) problems.push(`${name} was loaded and is not declared`);
  }
  for (const { name, deferred } of view.declared) {
    if (name.startsWith("lazy_") && !loaded.has(name)) problems.push(`${name} is declared and nothing loaded it`);
    const times = view.loads.filter((one) => one === name).length;
    if (deferred && times !== 1) problems.push(`${name} is deferred and loaded ${times} times`);
  }
  for (const id of view.failed) {
    if (view.calls.has(view.companionOf(id))) problems.push(`the failed call ${id} is a load point`);
  }
  const twice = view.declared.find(({ name }, index) => view.declared.findIndex((one) => one.name === name) !== index);
  if (twice !== undefined) problems.push(`${twice.name} is declared twice`);
  return problems;
}

/** The names in the line by which a search says what it loaded. */
function namesLoaded(text: string): string[] {
  return /^Loaded: ([^.]+)\./.exec(text)?.[1]?.split(", ") ?? [];
}
