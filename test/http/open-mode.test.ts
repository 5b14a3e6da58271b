import { describe, expect, it } from "vitest";
import { isLoopback } from "../../src/http/open-mode.ts";
import { ALICE, door, KEYS, refusal } from "./stand-ins.ts";

const OPEN = { HOLDFAST_OPEN: "1" };
const ask = (headers: Record<string, string>, env: Partial<Cloudflare.Env> = OPEN) =>
  door().fetch("/v1/models", { headers: { authorization: "none", ...headers } }, env);

describe("open mode", () => {
  it.each([
    ["no key", { host: "localhost:8787" }],
    ["a key nobody knows, as OpenAI clients send one", { host: "127.0.0.1:8787", authorization: "Bearer sk-any" }],
    ["a loopback page", { host: "[::1]:8787", origin: "http://localhost:3000" }],
  ])("answers this machine with %s", async (_, headers) => {
    expect((await ask(headers)).status).toBe(200);
  });

  it.each([
    ["a host name that points here (DNS rebinding)", { host: "evil.example:8787" }, 'Host "evil.example:8787"'],
    ["a host name that only begins like ours", { host: "localhost.evil.example" }, "Host"],
    ["a page of another site", { host: "localhost:8787", origin: "https://evil.example" }, "Origin"],
    ["a sandboxed page", { host: "localhost:8787", origin: "null" }, 'Origin "null"'],
  ])("refuses %s", async (_, headers, what) => {
    expect(await refusal(await ask(headers))).toMatchObject({
      status: 403,
      code: "forbidden",
      message: expect.stringContaining(what),
    });
  });

  it("lets a known key in from anywhere, and as its own owner", async () => {
    const { fetch, turns } = door();
    const init = {
      method: "POST",
      headers: { host: "box.lan", authorization: `Bearer ${ALICE}` },
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
    };
    expect((await fetch("/v1/chat/completions", init, { ...OPEN, HOLDFAST_API_KEYS: KEYS })).status).toBe(200);
    expect(turns[0]?.owner.id).toBe("alice");
  });

  it.each(["", "0", "false"])("is off with HOLDFAST_OPEN=%j", async (value) => {
    expect((await ask({ host: "localhost" }, { HOLDFAST_OPEN: value })).status).toBe(401);
  });
});

describe("isLoopback", () => {
  it.each(["http://localhost:1", "http://127.0.0.1", "http://127.9.9.9:80", "https://[::1]:5"])(
    "holds for %s",
    (origin) => {
      expect(isLoopback(origin)).toBe(true);
    },
  );

  it.each(["http://127.evil.example", "http://localhost@evil.example", "http://0.0.0.0", "http://[::2]", "null", ""])(
    "does not hold for %j",
    (origin) => {
      expect(isLoopback(origin)).toBe(false);
    },
  );
});
