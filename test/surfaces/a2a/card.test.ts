import { expect, test } from "vitest";
import { door } from "../../http/stand-ins.ts";

const CARD = "/.well-known/agent-card.json";
const PUBLIC = { authorization: "none" };

async function card(path: string, headers: Record<string, string> = PUBLIC, env?: Record<string, string>) {
  const response = await door().fetch(path, { headers: { ...PUBLIC, ...headers } }, env);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  const body: any = response.status === 200 ? await response.json() : null;
  return { response, body };
}

test.for([CARD, "/.well-known/agent.json", `/agents/other${CARD}`, "/agents/other/.well-known/agent.json"])(
  "%s needs no key, may be kept, and may be read by any page",
  async (path) => {
    const { response, body } = await card(path, { origin: "https://anywhere.example" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    expect(response.headers.get("vary")?.toLowerCase()).toContain("a2a-version");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(body.name).toBe(path.includes("other") ? "other" : "assistant");
    const etag = response.headers.get("etag") ?? "";
    expect(etag).not.toBe("");
    expect((await card(path, { "if-none-match": etag })).response.status).toBe(304);
  },
);

test("a card without a version is for readers of both: each finds its own fields, and all of them", async () => {
  const { body } = await card(`/agents/other${CARD}`);
  const root = "http://localhost/agents/other";
  // 0.3 (agno#10165, kagent#1684, caipe#873): the endpoint of every method, and what it speaks.
  expect(body).toMatchObject({
    protocolVersion: "0.3.0",
    url: `${root}/a2a`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: `${root}/a2a`, transport: "JSONRPC" },
      { url: root, transport: "HTTP+JSON" },
    ],
    supportsAuthenticatedExtendedCard: true,
    security: [{ bearer: [] }],
  });
  expect(body.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "Bearer" });
  // 1.0
  expect(body.supportedInterfaces).toEqual(
    ["1.0", "0.3"].flatMap((protocolVersion) => [
      { url: `${root}/a2a`, protocolBinding: "JSONRPC", protocolVersion },
      { url: root, protocolBinding: "HTTP+JSON", protocolVersion },
    ]),
  );
  expect(body.securitySchemes.bearer.httpAuthSecurityScheme).toMatchObject({ scheme: "Bearer" });
  expect(body.securityRequirements).toEqual([{ schemes: { bearer: { list: [] } } }]);
  expect(body.capabilities).toMatchObject({ streaming: true, extendedAgentCard: true });
  expect(body.skills.map((skill: { id: string }) => skill.id)).toEqual(["other"]);
  expect(body.skills[0].tags.length).toBeGreaterThan(0);
});

test("a reader of 1.0 gets the fields of 1.0 and no others", async () => {
  const { body } = await card(CARD, { "a2a-version": "1.0" });
  expect(Object.keys(body).sort()).toEqual(
    [
      ...["name", "description", "version", "supportedInterfaces", "capabilities", "defaultInputModes"],
      ...["defaultOutputModes", "skills", "securitySchemes", "securityRequirements"],
    ].sort(),
  );
  expect(Object.keys(body.securitySchemes.bearer)).toEqual(["httpAuthSecurityScheme"]);
});

test("in open mode, where no key is needed, none is asked for", async () => {
  const { body } = await card(CARD, {}, { HOLDFAST_OPEN: "1" });
  expect(body).not.toHaveProperty("securitySchemes");
  expect(body).not.toHaveProperty("security");
});

test("an agent that is not there has no card", async () => {
  expect((await card(`/agents/nobody${CARD}`)).response.status).toBe(404);
});
