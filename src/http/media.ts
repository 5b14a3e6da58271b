/** Image types that every provider takes. */
export const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export type Media = (typeof IMAGES)[number] | "application/pdf";

/** Readers find a PDF's first line within so many bytes (ISO 32000-1, annex H, note 13). */
const PDF_HEAD = 1_024;

/** Whether content begins as its type does. A provider that finds another type refuses the whole request, for good. */
export function isOf(bytes: Buffer, media: Media): boolean {
  const begins = (text: string, at = 0) => bytes.toString("latin1", at, at + text.length) === text;
  switch (media) {
    case "image/png":
      return begins("\x89PNG\r\n\x1a\n");
    case "image/jpeg":
      return begins("\xff\xd8\xff");
    case "image/gif":
      return begins("GIF87a") || begins("GIF89a");
    case "image/webp":
      return begins("RIFF") && begins("WEBP", 8);
    case "application/pdf":
      return bytes.subarray(0, PDF_HEAD).includes("%PDF-");
  }
}
