import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGES = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT });
const FILES = [
  ...PAGES,
  ...globSync(
    ["{src,test,scripts,migrations}/**/*.{ts,sql}", "bench/*.ts", "bench/!(peers)/**/*.ts", "bench/peers/*.ts"],
    {
      cwd: ROOT,
    },
  ),
];
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What a reader of the repository is sent to must be there. */
describe("references", () => {
  it("to a section of the design lead to it", () => {
    const sections = new Set([...read("docs/design.md").matchAll(/^##+ ([\d.]+?)\.? /gm)].map(([, number]) => number));
    expect(sections).toContain("3.2");
    const lost = FILES.flatMap((path) =>
      [...read(path).matchAll(/design §([\d.]*\d)(?: (?:to|and) §([\d.]*\d))?/g)].flatMap(([, from, to]) =>
        [from, to].filter((number) => number !== undefined && !sections.has(number)).map((number) => [path, number]),
      ),
    );
    expect(lost).toEqual([]);
  });

  it("never name papers that the repository doesn't hold", () => {
    const papers = /\bseed 0\d\d\b|\bissue \d+, point|\bresearch[:/]|\bresearch\/\w+\.md/i;
    const own = "test/scripts/references.test.ts";
    expect(FILES.filter((path) => path !== own && papers.test(read(path)))).toEqual([]);
  });

  it("of a page lead to files that are there", () => {
    const lost = PAGES.flatMap((path) => {
      const links = [...read(path).matchAll(/\]\((?!\w+:|#)([^)#]+)/g)].map(([, link = ""]) =>
        join(dirname(path), link),
      );
      const named = [...read(path).matchAll(/`((?:src|test|scripts|docs|bench|migrations)\/[\w./-]+)`/g)];
      return [...links, ...named.map(([, name = ""]) => name)]
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => [path, target]);
    });
    expect(lost).toEqual([]);
  });

  it("of CONTRIBUTING to folders and commands lead to those that are there", () => {
    const text = read("CONTRIBUTING.md");
    const rows = [...text.matchAll(/^\| (`[^|]+`) \| (?!what)/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([\w.]+(?:\/|\.ts))`/g)].map(([, name = ""]) => name),
    );
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((name) => !existsSync(join(ROOT, "src", name)))).toEqual([]);
    const { scripts } = JSON.parse(read("package.json"));
    const commands = PAGES.flatMap((path) =>
      [...read(path).matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name),
    );
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  });

  it("to settings are to those that the worker reads", () => {
    const source = FILES.filter((path) => path.startsWith("src/") && path !== "src/env.ts")
      .map(read)
      .join("");
    const table = [...read("README.md").matchAll(/^\| (`[A-Z].*?`) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    );
    const reserved = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    expect(table.filter((name) => !source.includes(name) && !reserved.includes(name))).toEqual([]);
  });
});
