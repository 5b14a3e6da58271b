/** An object or array that is open. `path` is its own, as in `messages[].content`. */
interface Open {
  readonly path: string;
  readonly array: boolean;
  /** Path of the value that comes next; null in an object while its key has not come. */
  here: string | null;
}

/** What the scan is in. `base64`: the content of an attachment; `head`: a text that may yet turn out to be one. */
type State = "between" | "key" | "text" | "head" | "base64";

const HEAD = /^data:(?:image\\?\/[a-z0-9.+-]+|application\\?\/pdf)(?:;[a-z0-9=.+-]+)*;base64,$/i;

/** Longer keys and longer heads of data URLs are none that count. */
const KEY_CHARS = 32;
const HEAD_CHARS = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Measures JSON text while it streams, before anything is parsed: how deep it is nested, and how many characters of it
 * are base64 of images and PDFs in data URLs. Only strings at the given paths count, and only while they are base64; so
 * nothing else can pass for an attachment. Text that is no JSON gives figures of no meaning, and a parser refuses it.
 */
export class BodyScan {
  readonly #paths: readonly string[];
  readonly #bytes: readonly string[];
  readonly #open: Open[] = [];
  readonly #notBase64 = /[^A-Za-z0-9+/=]/g;
  #state: State = "between";
  /** The character before this one was a backslash. */
  #escaped = false;
  /** The key or head so far, as written. */
  #written = "";
  #current = 0;
  #attached = 0;
  #depth = 0;

  /**
   * `paths`: where attachments may stand as data URLs, such as `messages[].content[].image_url.url`; `bytes`: where they
   * may stand as base64 alone.
   */
  constructor(paths: readonly string[], bytes: readonly string[] = []) {
    this.#paths = paths;
    this.#bytes = bytes;
  }

  /** Characters of base64 in attachments so far. */
  get attached(): number {
    return this.#attached + this.#current;
  }

  /** The deepest level so far. */
  get depth(): number {
    return this.#depth;
  }

  take(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#state === "base64" && !this.#escaped) {
        const end = this.#endOfBase64(piece, at);
        this.#current += end - at;
        at = end;
        if (at === piece.length) return;
      }
      const unit = piece.charCodeAt(at);
      if (this.#state === "between") this.#structure(unit);
      else this.#inString(unit);
    }
  }

  #endOfBase64(piece: string, from: number): number {
    this.#notBase64.lastIndex = from;
    return this.#notBase64.exec(piece)?.index ?? piece.length;
  }

  #structure(unit: number): void {
    const open = this.#open.at(-1);
    const here = open === undefined ? "" : open.here;
    switch (unit) {
      case QUOTE:
        this.#written = "";
        this.#state = here === null ? "key" : this.#valueAt(here);
        return;
      case 0x7b: // {
        this.#open.push({ path: here ?? "", array: false, here: null });
        this.#depth = Math.max(this.#depth, this.#open.length);
        return;
      case 0x5b: // [
        this.#open.push({ path: here ?? "", array: true, here: `${here ?? ""}[]` });
        this.#depth = Math.max(this.#depth, this.#open.length);
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.#open.pop();
        return;
      case COMMA:
        if (open?.array === false) open.here = null;
        return;
    }
  }

  #valueAt(path: string): State {
    if (this.#bytes.includes(path)) return "base64";
    return this.#paths.includes(path) ? "head" : "text";
  }

  #inString(unit: number): void {
    const escaped = this.#escaped;
    this.#escaped = !escaped && unit === BACKSLASH;
    if (unit === QUOTE && !escaped) {
      this.#endString();
    } else if (this.#state === "base64") {
      // Some writers escape the slash. Whatever else is here is no base64, and so all of it is text.
      if (this.#escaped || (escaped && unit === 0x2f)) this.#current++;
      else this.#isText();
    } else if (this.#state === "key") {
      if (this.#written.length <= KEY_CHARS) this.#written += String.fromCharCode(unit);
    } else if (this.#state === "head") {
      this.#written += String.fromCharCode(unit);
      if (unit === COMMA && HEAD.test(this.#written)) this.#state = "base64";
      else if (unit === COMMA || this.#written.length > HEAD_CHARS) this.#isText();
    }
  }

  #isText(): void {
    this.#state = "text";
    this.#current = 0;
  }

  #endString(): void {
    const open = this.#open.at(-1);
    if (this.#state === "key" && open !== undefined) {
      open.here = open.path === "" ? this.#written : `${open.path}.${this.#written}`;
    }
    this.#attached += this.#current;
    this.#current = 0;
    this.#state = "between";
  }
}
