import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";

let storage: string;
let port: number;
let dev: ChildProcess;
let printed = "";

beforeAll(async () => {
  storage = await mkdtemp(join(tmpdir(), "holdfast-dev-"));
  port = await freePort();
  // A group of its own, so that everything it starts can be ended with it.
  dev = spawn("npm", ["run", "dev", "--", "--port", `${port}`, "--persist-to", storage], {
    cwd: resolve(import.meta.dirname, "../../.."),
    detached: true,
    env: { ...process.env, ANTHROPIC_API_KEY: "", ANTHROPIC_BASE_URL: "", HOLDFAST_MODEL: "" },
  });
  const ready = Promise.withResolvers<void>();
  dev.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (printed.includes("Ctrl-C stops it")) ready.resolve();
  });
  dev.once("exit", (code) => ready.reject(new Error(`npm run dev ended with ${code}: ${printed}`)));
  await ready.promise;
}, 60_000);

afterAll(async () => {
  if (dev.pid !== undefined && dev.exitCode === null) {
    const ended = once(dev, "exit");
    process.kill(-dev.pid, "SIGINT");
    await ended;
  }
  await rm(storage, { recursive: true, force: true });
});

test("npm run dev says what to try, and an unmodified client sees a tool loaded, used, and still there", async () => {
  expect(printed).toContain(`curl -N http://localhost:${port}/v1/chat/completions`);
  expect(printed).toContain(`baseURL  http://localhost:${port}/v1`);

  const client = new OpenAI({ baseURL: `http://localhost:${port}/v1`, apiKey: "any string" });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const { data, response } = await client.chat.completions
      .create({ model: "assistant", messages, stream: true })
      .withResponse();
    let text = "";
    let reasoning = "";
    for await (const chunk of data) {
      const delta: { content?: string | null; reasoning_content?: string } = chunk.choices[0]?.delta ?? {};
      text += delta.content ?? "";
      reasoning += delta.reasoning_content ?? "";
    }
    messages.push({ role: "assistant", content: text });
    return { text, reasoning, prefix: response.headers.get("x-holdfast-prefix") };
  };

  const first = await say("Convert 20 miles to km");
  expect(first.text).toContain("32.18688 km");
  expect(first.reasoning).toContain("tool_search");
  expect(first.prefix).toBe("first");

  const second = await say("And 5 kg to pounds");
  expect(second.text).toContain("11.02311311 lb");
  expect(second.reasoning).not.toContain("tool_search");
  expect(second.prefix).toBe("extends");

  const listed: { sessions: unknown[] } = await (await fetch(`http://localhost:${port}/api/sessions`)).json();
  expect(listed.sessions).toHaveLength(1);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
