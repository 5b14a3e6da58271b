/** A Markdown table. The first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** Milliseconds, as precise as they deserve. */
export function ms(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : "–";
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A target beside its figure. */
export interface Target {
  readonly what: string;
  readonly target: string;
  readonly figure: string;
  readonly met: boolean;
}

export function targets(list: readonly Target[]): string {
  return table(
    ["target", "wanted", "measured", ""],
    list.map(({ what, target, figure, met }) => [what, target, figure, met ? "met" : "**missed**"]),
  );
}

/** Puts `text` between the markers of a section, which stay. Throws where the document has none. */
export function replaceSection(document: string, name: string, text: string): string {
  const open = `<!-- bench:${name} -->`;
  const close = `<!-- /bench:${name} -->`;
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no section ${name}`);
  return `${document.slice(0, from + open.length)}\n${text}\n${document.slice(to)}`;
}
