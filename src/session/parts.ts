/**
 * A row of an object or of D1 may have 2 MB; ours stay under 1 MB. A part has half of that, because it can double when
 * a flush writes it into a statement as JSON.
 */
export const PART_BYTES = 500_000;

/** `text` in pieces of at most {@link PART_BYTES} as UTF-8, cut between characters. An empty text is one piece. */
export function split(text: string): string[] {
  if (text.length * 3 <= PART_BYTES) return [text];
  const bytes = new TextEncoder().encode(text);
  if (bytes.byteLength <= PART_BYTES) return [text];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parts: string[] = [];
  for (let from = 0; from < bytes.byteLength; ) {
    let to = Math.min(from + PART_BYTES, bytes.byteLength);
    while (to < bytes.byteLength && ((bytes[to] ?? 0) & 0xc0) === 0x80) to--;
    parts.push(decoder.decode(bytes.subarray(from, to)));
    from = to;
  }
  return parts;
}

/** Rows of parts, in order, put together again: one row for each run that begins with part 0. */
export function* join<Row extends { part: number; text: string }>(rows: Iterable<Row>): Generator<Row> {
  let open: { row: Row; texts: string[] } | null = null;
  for (const row of rows) {
    if (row.part > 0 && open !== null) {
      open.texts.push(row.text);
      continue;
    }
    if (open !== null) yield joined(open);
    open = { row, texts: [row.text] };
  }
  if (open !== null) yield joined(open);
}

function joined<Row extends { text: string }>({ row, texts }: { row: Row; texts: string[] }): Row {
  return texts.length === 1 ? row : { ...row, text: texts.join("") };
}

/** Never occurs raw in JSON text, which escapes every control character. */
const BETWEEN_TEXTS = "\u001e";
const BETWEEN_LISTS = "\u001d";

/** Lists of JSON texts as one text, every byte kept. */
export function pack(lists: readonly (readonly string[])[]): string {
  return lists.map((texts) => texts.join(BETWEEN_TEXTS)).join(BETWEEN_LISTS);
}

/** Reads back what {@link pack} made. */
export function unpack(text: string): string[][] {
  return text.split(BETWEEN_LISTS).map((list) => (list === "" ? [] : list.split(BETWEEN_TEXTS)));
}
