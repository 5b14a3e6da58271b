import { badRequest } from "../../http/bad-request.ts";
import { type Attachment, readBlob, readLink } from "../../http/blob.ts";
import { IMAGES, type Media } from "../../http/media.ts";

/** An image by its URL: `data:` becomes a blob, `https:` is left to the provider to fetch. `path` is for errors. */
export function readImage(url: string, path: string): Attachment {
  if (/^data:/i.test(url)) return readDataUrl(url, IMAGES, path);
  return readLink(url, path, "an image is a data: or an https: URL");
}

/** A PDF as a data URL. */
export function readPdf(data: string | null | undefined, path: string): Attachment {
  if (!data) throw badRequest(path, "a file is sent as a data: URL in file_data; other ways are not supported");
  return readDataUrl(data, ["application/pdf"], path);
}

function readDataUrl(url: string, allowed: readonly Media[], path: string): Attachment {
  const comma = url.indexOf(",");
  const [type = "", ...parameters] = url.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  if (!parameters.includes("base64")) throw badRequest(path, "a data: URL must be in base64");
  const media = allowed.find((one) => one === (type === "image/jpg" ? "image/jpeg" : type));
  if (media === undefined) {
    throw badRequest(
      path,
      `${JSON.stringify(type.slice(0, 64))} is not supported; ${allowed.join(", ")} can be sent here`,
    );
  }
  return readBlob(url.slice(comma + 1), media, path, "the data: URL");
}
