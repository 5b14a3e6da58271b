import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import { call, say, scripted, testAgent } from "../../src/testing.ts";

const server = createServer((_, response) => void response.end("it is here"));
let url = "";
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}/`;
});
afterAll(() => void server.close());

const read = defineTool({
  name: "read",
  description: "Reads a page.",
  risk: "read",
  input: { type: "object", properties: { url: { type: "string" } } } as const,
  async execute(input, { fetch }) {
    const asked: unknown = Reflect.get(input, "url");
    return (await fetch(String(asked))).text();
  },
});
const agent = defineAgent({ name: "reader", description: "Reads.", model: "anthropic/claude-sonnet-5", tools: [read] });

/** The texts of all results of one turn that reads these pages one after the other. */
async function readAll(urls: readonly string[], env: Partial<Cloudflare.Env>): Promise<string[]> {
  const model = scripted(...urls.map((url) => call("read", { url })), say("Done."));
  const { events } = await testAgent(agent, { model: model.provider, env }).say("Read.");
  return events.flatMap((event) => (event.type === "result" ? [event.text] : []));
}

test("a tool's way out refuses internal addresses, and the model reads why", async () => {
  expect(await readAll([url, "http://169.254.169.254/latest"], {})).toEqual([
    `${new URL(url).host} is an internal address, which is not asked.`,
    "169.254.169.254 is an internal address, which is not asked.",
  ]);
});

test("in development a tool may ask this machine", async () => {
  expect(await readAll([url], { HOLDFAST_ALLOW_LOOPBACK: "1" })).toEqual(["it is here"]);
});

test("the number of requests is limited for the whole turn", async () => {
  const urls = Array.from({ length: 41 }, (_, n) => `${url}${n}`);
  const texts = await readAll(urls, { HOLDFAST_ALLOW_LOOPBACK: "1" });
  expect(texts.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => "it is here"));
  expect(texts.at(40)).toBe("More than 40 requests were made to the outside in this turn.");
});
