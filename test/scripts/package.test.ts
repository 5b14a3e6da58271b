import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PACKED = ["package.json", "tsconfig.json", "tsconfig.build.json", "README.md", "CHANGELOG.md", "LICENSE"];
const FOLDERS = ["src", "test/emulators", "migrations", "scripts"];

const WORKER = `
import { apiKeys, defineAgent, holdfast } from "holdfast";
export { SessionObject } from "holdfast";
const assistant = defineAgent({ name: "assistant", description: "Talks.", model: "demo/scripted", instructions: "Talk.", tools: [] });
export default holdfast({ agents: [assistant], auth: [apiKeys()] }) satisfies ExportedHandler<Cloudflare.Env>;
export function database(env: Cloudflare.Env): D1Database { return env.DB; }
`;

const NODE_TEST = `
import { defineAgent, defineTool, lazy } from "holdfast";
import { call, expectExtends, say, scripted, testAgent } from "holdfast/testing";
const answer = defineTool({
  name: "answer", description: "Tells the answer.", risk: "read",
  input: { type: "object", properties: {} }, execute: () => "42",
});
const agent = defineAgent({
  name: "a", description: "Answers.", model: "anthropic/claude-sonnet-5", instructions: "Answer.", tools: [lazy(answer)],
});
const model = scripted(call("tool_search", { query: "answer" }), call("answer"), say("It is 42."));
const tested = testAgent(agent, { model: model.provider });
const { text } = await tested.say("What is the answer?");
expectExtends(model.requests);
console.log(text, (await tested.ledger()).map(({ verdict }) => verdict.prefix).join());
`;

/** What `npm pack` makes of the project, in an empty Worker that has nothing but the package's own dependencies. */
describe("the package", () => {
  let temp: string;
  let user: string;
  let manifest: { dependencies: Record<string, string>; [field: string]: unknown };

  beforeAll(() => {
    temp = mkdtempSync(join(tmpdir(), "holdfast-package-"));
    const project = join(temp, "project");
    for (const path of [...PACKED, ...FOLDERS]) cpSync(join(ROOT, path), join(project, path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
    const before = readFileSync(join(project, "package.json"), "utf8");
    const packing = ["pack", "--silent", "--pack-destination", temp];
    const archive = execFileSync("npm", packing, { cwd: project, encoding: "utf8" }).trim();
    expect(readFileSync(join(project, "package.json"), "utf8")).toBe(before);

    user = join(temp, "user");
    const installed = join(user, "node_modules/holdfast");
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["xzf", join(temp, archive), "-C", installed, "--strip-components=1"]);
    manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    for (const name of [...Object.keys(manifest.dependencies), "@cloudflare/workers-types"]) {
      mkdirSync(dirname(join(user, "node_modules", name)), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), join(user, "node_modules", name));
    }
    writeFileSync(join(user, "worker.ts"), WORKER);
  }, 120_000);
  afterAll(() => rmSync(temp, { recursive: true, force: true }));

  it("brings nothing that only its development needs", () => {
    const development = /^(scripts|devDependencies|optionalDependencies|allowScripts)$/;
    expect(Object.keys(manifest).filter((field) => development.test(field))).toEqual([]);
  });

  it("has types, those of the bindings included", () => {
    const compilerOptions = {
      strict: true,
      module: "ESNext",
      target: "ES2024",
      lib: ["ES2024"],
      moduleResolution: "Bundler",
      types: ["@cloudflare/workers-types"],
      noEmit: true,
      skipLibCheck: true,
    };
    writeFileSync(join(user, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["worker.ts"] }));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    expect(run(process.execPath, [tsc, "-p", "."], user)).toBe("");
  });

  it("lets Node define an agent and test it against a scripted model", () => {
    writeFileSync(join(user, "agent.test.mjs"), NODE_TEST);
    expect(run(process.execPath, ["agent.test.mjs"], user)).toBe("It is 42. first,extends,extends\n");
  });

  it("gives Node every public name but the classes that only a Worker can load", () => {
    const names = (file: string) => {
      const script = `console.log(Object.keys(await import(${JSON.stringify(file)})).join())`;
      return run(process.execPath, ["--input-type=module", "--eval", script], user).trim().split(",");
    };
    const exported = readFileSync(join(user, "node_modules/holdfast/dist/index.js"), "utf8").match(
      /export \{([^}]+)\}/,
    );
    const all = exported?.[1]?.split(",").map((name) => name.trim().replace(/.* as /, "")) ?? [];
    expect(names("holdfast")).toEqual(expect.arrayContaining(["defineAgent", "defineTool", "lazy", "holdfast"]));
    expect(new Set([...names("holdfast"), "SessionObject", "TurnRunner"])).toEqual(new Set(all));
  });

  it("runs as a Worker", async () => {
    const { outputFiles } = await build({
      absWorkingDir: user,
      entryPoints: ["worker.ts"],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2024",
      conditions: ["workerd", "worker", "browser"],
      external: ["cloudflare:*", "node:*"],
    });
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: outputFiles[0]?.text ?? "",
        compatibilityDate: "2026-11-01",
        compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
        durableObjects: { SESSIONS: { className: "SessionObject", useSQLite: true } },
        d1Databases: ["DB"],
        bindings: { HOLDFAST_OPEN: "1" },
      }),
    );
    try {
      const response = await miniflare.dispatchFetch("http://localhost/v1/models");
      expect(await response.json()).toMatchObject({ data: [{ id: "assistant" }] });
    } finally {
      await miniflare.dispose();
    }
  });
});

/** What the program prints, its complaints included where it fails. */
function run(program: string, args: string[], cwd: string): string {
  try {
    return execFileSync(program, args, { cwd, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    return String(Object(error).stdout) + String(Object(error).stderr);
  }
}
