import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { layoutDifference } from "../emulators/common/layout.ts";
import { CASES, OWN_COMPACTIONS } from "./cases.ts";
import { playConversation } from "./conversation.ts";
import { FORMS, type GoldenForm } from "./forms.ts";
import { prettyJson } from "./pretty-json.ts";

/**
 * The wire as a person can read it: what a session holds, and the last request that came of it. Any difference fails;
 * `UPDATE_GOLDEN=1 npx vitest run test/golden` writes the files anew. A renderer that gives other bytes needs a new
 * wire version too.
 */
describe.for(Object.entries(FORMS))("%s", ([folder, form]) => {
  const { compacts } = form.provider.facts(form.model.split("/")[1] ?? "");
  const cases = {
    ...CASES,
    ...(compacts === undefined ? {} : { "compaction-by-the-provider": OWN_COMPACTIONS[compacts] }),
  };

  test.for(Object.entries(cases))("%s is sent as its golden file says", async ([name, turns]) => {
    const { entries, bodies } = await playConversation(form, turns);
    const compacts = turns.some(({ compact }) => compact !== undefined);
    for (const [index, body] of compacts ? [] : bodies.slice(1).entries()) {
      expect(difference(form, bodies[index] ?? "", body)).toBeNull();
    }
    const text = `{"entries":[${entries.join(",")}],"body":${bodies.at(-1)}}`;
    const file = join(import.meta.dirname, folder, `${name}.json`);
    if (process.env.UPDATE_GOLDEN) await writeFile(file, `${prettyJson(text)}\n`);
    expect(`${prettyJson(text)}\n`).toBe(await readFile(file, "utf8"));
  });

  test("there is no golden file without a case", async () => {
    expect((await readdir(join(import.meta.dirname, folder))).toSorted()).toEqual(
      Object.keys(cases)
        .map((name) => `${name}.json`)
        .toSorted(),
    );
  });
});

/** Where a request does not extend the one before it. Where late tools go inline, the tools may differ. */
function difference({ layout, inlineOnly }: GoldenForm, earlier: string, later: string): string | null {
  const [before, after] = [layout(earlier), layout(later)];
  return layoutDifference(before, inlineOnly ? { ...after, inline: before.inline } : after);
}

test("what a model sent as input stands in the next request of a later turn, byte for byte but for half characters", async () => {
  const [form] = Object.values(FORMS);
  if (form === undefined) throw new Error("There is no form.");
  const { bodies } = await playConversation(form, CASES["odd-inputs"] ?? []);
  expect(bodies.at(-1)).toContain(
    '"input":{"text":"\\ufffd and \ufffd", "10":1, "2":12345678901234567890, "__proto__":{"a":1e400}, "1.0":1.0}',
  );
  expect(Buffer.from(bodies.at(-1) ?? "").toString()).toBe(bodies.at(-1));
});
