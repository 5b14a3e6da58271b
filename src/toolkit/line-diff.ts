/** One line of a comparison: in both texts, only in the old one, or only in the new one. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** The shortest way from one list of lines to another: the lines of their longest common subsequence stay. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const kept = (lines: readonly string[]): DiffLine[] => lines.map((line) => ({ sign: " ", line }));
  return [
    ...kept(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...kept(before.slice(before.length - end)),
  ];
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const common = commonLengths(before, after);
  const length = (i: number, j: number) => common[i]?.[j] ?? 0;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: " ", line: old });
      i++;
      j++;
    } else if (fresh === undefined || (old !== undefined && length(i + 1, j) >= length(i, j + 1))) {
      lines.push({ sign: "-", line: old ?? "" });
      i++;
    } else {
      lines.push({ sign: "+", line: fresh });
      j++;
    }
  }
  return lines;
}

/** For every pair of places, how many lines the rests from there have in common, in order. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = table[i];
      const below = table[i + 1];
      if (row === undefined || below === undefined) continue;
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}
