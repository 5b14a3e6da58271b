const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const RUN = new RegExp(`[${CJK}]+|\\p{N}+|(?:(?![${CJK}])[\\p{L}\\p{M}])+`, "gu");
const IS_CJK = new RegExp(`^[${CJK}]`, "u");
/** Chinese characters that only join others; they part a run, so that the pairs left are words more often. */
const CJK_JOINERS = /[的了是我你您他请請把帮幫在和与與吗嗎呢个個给給用要想到]/u;

/**
 * The words of a text as the search index knows them: lower case, without accents, names split on `_`, `-` and
 * camelCase, letters apart from digits, English endings cut. Chinese, Japanese and Korean come as pairs of characters.
 */
export function words(text: string): string[] {
  const out: string[] = [];
  for (const [run] of plain(text).matchAll(RUN)) {
    if (IS_CJK.test(run)) out.push(...run.split(CJK_JOINERS).flatMap(pairs));
    else out.push(stem(run));
  }
  return out;
}

function plain(text: string): string {
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const lower = apart.toLowerCase();
  if (!/[^\t-~]/.test(lower)) return lower;
  return lower
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC");
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}

function stem(word: string): string {
  let base = word;
  if (base.length > 4 && base.endsWith("ies")) base = `${base.slice(0, -3)}y`;
  else if (base.length > 3 && /[^sui]s$/.test(base)) base = base.slice(0, -1);
  if (base.length > 6 && base.endsWith("ing")) base = base.slice(0, -3);
  else if (base.length > 5 && base.endsWith("ed")) base = base.slice(0, -2);
  return base.length > 4 && base.endsWith("e") ? base.slice(0, -1) : base;
}
