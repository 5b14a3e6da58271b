import { describe, expect, it } from "vitest";
import { door, KEYS } from "./stand-ins.ts";

const LISTED = { HOLDFAST_API_KEYS: KEYS, HOLDFAST_ORIGINS: "https://chat.example, app://obsidian.md" };
const OPEN = { HOLDFAST_OPEN: "1" };

function preflight(origin: string, env: Partial<Cloudflare.Env>, headers: Record<string, string> = {}) {
  return door().fetch(
    "/v1/chat/completions",
    {
      method: "OPTIONS",
      headers: {
        authorization: "none",
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, x-stainless-os",
        ...headers,
      },
    },
    env,
  );
}

describe("a preflight", () => {
  it("of a listed origin is answered without a key, and allows the headers it asks for", async () => {
    const response = await preflight("https://chat.example", LISTED);
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://chat.example");
    expect(response.headers.get("access-control-allow-headers")).toBe("authorization,content-type,x-stainless-os");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it.each([
    ["an origin that is not listed", "https://evil.example", LISTED],
    ["a port that is not listed", "https://chat.example:444", LISTED],
    ["any origin, unless told otherwise", "https://chat.example", { HOLDFAST_API_KEYS: KEYS }],
    ["a local page, unless in open mode", "http://localhost:3000", { HOLDFAST_API_KEYS: KEYS }],
    ["another site in open mode", "https://evil.example", OPEN],
  ])("does not allow %s", async (_, origin, env) => {
    const response = await preflight(origin, env, { "access-control-request-private-network": "true" });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("access-control-allow-private-network")).toBeNull();
  });

  it("allows a local page into the private network in open mode alone", async () => {
    const asks = { "access-control-request-private-network": "true" };
    const open = await preflight("http://localhost:3000", OPEN, asks);
    expect(open.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
    expect(open.headers.get("access-control-allow-private-network")).toBe("true");
    const keyed = await preflight("https://chat.example", LISTED, asks);
    expect(keyed.headers.get("access-control-allow-private-network")).toBeNull();
  });
});

describe("an answer to a listed origin", () => {
  it("lets a script read our headers", async () => {
    const response = await door().fetch("/v1/models", { headers: { origin: "app://obsidian.md" } }, LISTED);
    expect(response.headers.get("access-control-allow-origin")).toBe("app://obsidian.md");
    expect(response.headers.get("vary")).toContain("Origin");
    const exposed = response.headers.get("access-control-expose-headers")?.split(",");
    expect(exposed).toEqual(
      expect.arrayContaining([
        "x-conversation-id",
        "x-request-id",
        "x-holdfast-prefix",
        "x-holdfast-ignored",
        "retry-after",
      ]),
    );
  });

  it("can be read when it is a refusal too", async () => {
    const init = { headers: { origin: "https://chat.example", authorization: "none" } };
    const response = await door().fetch("/v1/models", init, LISTED);
    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://chat.example");
  });
});
