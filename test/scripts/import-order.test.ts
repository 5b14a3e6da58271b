import { describe, expect, it } from "vitest";
import { checkImportOrder } from "../../scripts/checks/import-order.ts";

function messages(path: string, text: string): string[] {
  return checkImportOrder([{ path, text }]).map((problem) => `${problem.line} ${problem.message}`);
}

describe("the import order", () => {
  it("lets a row import itself, rows below it and packages", () => {
    const text = `
      import { z } from "zod";
      import { env } from "cloudflare:workers";
      import type { Entry } from "../values/entry.ts";
      import { step } from "./step.ts";`;
    expect(messages("src/turn/run.ts", text)).toEqual([]);
  });

  it.each([
    ["a value", `import { run } from "../turn/run.ts";`],
    ["a type", `import type { Run } from "../turn/run.ts";`],
    ["a type in passing", `type Run = import("../turn/run.ts").Run;`],
    ["a side effect", `import "../turn/run.ts";`],
    ["a re-export", `export { run } from "../turn/run.ts";`],
    ["a re-export of everything", `export * from "../turn/run.ts";`],
    ["a lazy import", `export const run = () => import("../turn/run.ts");`],
  ])("catches an import upwards: %s", (_, text) => {
    expect(messages("src/catalog/search.ts", text)).toEqual([
      "1 imports src/turn/run.ts, and turn stands above catalog",
    ]);
  });

  it("names the line", () => {
    expect(messages("src/http/app.ts", `\n\nimport "../surfaces/chat.ts";`)).toEqual([
      "3 imports src/surfaces/chat.ts, and surfaces stands above http",
    ]);
  });

  it("keeps sessions and providers strangers, in both directions", () => {
    expect(messages("src/session/store.ts", `import type { Item } from "../providers/contract.ts";`)).toEqual([
      "1 imports src/providers/contract.ts, and session and providers know nothing of each other",
    ]);
    expect(
      messages("src/providers/demo/demo.ts", `import type { Row } from "../../session/contract.ts";`),
    ).toHaveLength(1);
  });

  it("keeps values on their own, packages and bindings included", () => {
    expect(messages("src/values/entry.ts", `import { z } from "zod";`)).toHaveLength(1);
    expect(messages("src/values/entry.ts", `import type {} from "../env.ts";`)).toHaveLength(1);
    expect(messages("src/values/entry.ts", `import { usage } from "./usage.ts";`)).toEqual([]);
  });

  it("lets nothing below http know Hono", () => {
    expect(messages("src/http/app.ts", `import { Hono } from "hono";`)).toEqual([]);
    expect(messages("src/turn/run.ts", `import { stream } from "hono/streaming";`)).toHaveLength(1);
  });

  it("lets the test kit alone import the emulators, and nobody the rest of the tests", () => {
    const text = `export * from "../test/emulators/anthropic/index.ts";`;
    expect(messages("src/testing.ts", text)).toEqual([]);
    expect(messages("src/index.ts", text)).toHaveLength(1);
    expect(messages("src/testing.ts", `import "../test/e2e/kit.ts";`)).toHaveLength(1);
  });

  it("lets the deployed worker use the public names, not the other way round", () => {
    expect(messages("src/worker.ts", `import { holdfast } from "./index.ts";`)).toEqual([]);
    expect(messages("src/index.ts", `import worker from "./worker.ts";`)).toHaveLength(1);
    expect(messages("src/index.ts", `import { testAgent } from "./testing.ts";`)).toHaveLength(1);
  });

  it("lets the bindings name any row as long as they are types only", () => {
    const types = `import type { SessionObject } from "./session/object.ts";
      declare global { namespace Cloudflare { interface Env { SESSIONS: DurableObjectNamespace<SessionObject> } } }
      export {};`;
    expect(messages("src/env.ts", types)).toEqual([]);
    expect(messages("src/env.ts", `import { SessionObject } from "./session/object.ts";`)).toEqual([
      "1 holds more than types",
    ]);
    expect(messages("src/env.ts", `export const env = {};`)).toEqual(["1 holds more than types"]);
  });

  it("catches a folder that the layout does not have", () => {
    expect(messages("src/utils/misc.ts", "export {};")).toEqual(["1 has no place in the layout (see CONTRIBUTING.md)"]);
    expect(messages("src/turn/run.ts", `import "../utils/misc.ts";`)).toHaveLength(1);
  });
});
