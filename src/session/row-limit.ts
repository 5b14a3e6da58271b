/**
 * A row of an object or of D1 may have 2 MB; ours have half of that, which leaves room for what surrounds a value. Texts
 * that may be longer are kept in parts (`parts.ts`), so what is refused here would be a fault of ours.
 */
const ROW_BYTES = 1_000_000;

/** Throws when a row, or what is changed of one, is larger than both stores are sure to take. Nothing was written then. */
export function mustFitRow(table: string, values: Readonly<Record<string, SqlStorageValue>>): void {
  const texts = Object.values(values).filter((value) => typeof value === "string");
  // No character takes more than three bytes.
  if (texts.reduce((sum, text) => sum + text.length, 0) * 3 <= ROW_BYTES) return;
  const encoder = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + encoder.encode(text).byteLength, 0);
  if (bytes > ROW_BYTES) throw new Error(`a row of ${table} would take ${bytes} bytes, more than ${ROW_BYTES}`);
}
