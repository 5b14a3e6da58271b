/** Puts blob contents where their tokens ({@link blobToken}) stand. */
export function withBlobs(body: string, blobs: ReadonlyMap<string, string>): string {
  if (!body.includes("\u0001")) return body;
  return body
    .split("\u0001")
    .map((piece, index) => {
      if (index % 2 === 0) return piece;
      const content = blobs.get(piece);
      if (content === undefined) throw new Error(`blob ${piece} is missing from the session`);
      return content;
    })
    .join("");
}
