import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What `docs/emulators.md` lists as not covered of a provider: the names in its list, by the keys of `titles`. */
export function listedUncovered<K extends string>(
  provider: string,
  titles: Readonly<Record<K, string>>,
): Record<string, string[]> {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/emulators.md"), "utf8");
  const section = text.split(`### Not covered: ${provider}\n`)[1]?.split("\n#")[0] ?? "";
  const entries = Object.entries<string>(titles).map(([key, title]) => {
    const line = section.split("\n").find((candidate) => candidate.startsWith(`- ${title}: `)) ?? "";
    return [key, [...line.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)];
  });
  return Object.fromEntries(entries);
}
