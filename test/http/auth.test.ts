import { describe, expect, it } from "vitest";
import { apiKeys } from "../../src/http/auth.ts";
import { failureOf, HoldfastError } from "../../src/values/errors.ts";
import { ALICE, agent, BOB, door, KEYS, refusal } from "./stand-ins.ts";

const SECOND = "another-secret-of-alice-1";

async function ownerOf(authorization: string | null, keys = KEYS) {
  const headers = new Headers(authorization === null ? {} : { authorization });
  return apiKeys()(new Request("http://localhost/", { headers }), bindings({ HOLDFAST_API_KEYS: keys }));
}

/** The settings a test is about; bindings that it does not touch are missing. */
function bindings(settings: Partial<Cloudflare.Env>): Cloudflare.Env {
  return settings as Cloudflare.Env;
}

describe("apiKeys", () => {
  it("makes an owner of the name whose secret the bearer token is", async () => {
    expect(await ownerOf(`Bearer ${ALICE}`)).toEqual({ id: "alice", name: "alice", roles: ["user"] });
    expect(await ownerOf(`bearer ${BOB}`)).toEqual({ id: "bob", name: "bob", roles: ["operator"] });
  });

  it("takes two entries of one name as one owner who is changing keys", async () => {
    const keys = `${KEYS},alice:${SECOND}`;
    expect(await ownerOf(`Bearer ${ALICE}`, keys)).toMatchObject({ id: "alice" });
    expect(await ownerOf(`Bearer ${SECOND}`, keys)).toMatchObject({ id: "alice" });
  });

  it.each([
    ["no header", null],
    ["another secret", `Bearer ${SECOND}`],
    ["a beginning of the secret", `Bearer ${ALICE.slice(0, -1)}`],
    ["more than the secret", `Bearer ${ALICE}x`],
    ["another scheme", `Basic ${ALICE}`],
    ["the name too", `Bearer alice:${ALICE}`],
  ])("knows nobody by %s", async (_, authorization) => {
    expect(await ownerOf(authorization)).toBeNull();
  });

  it.each([
    ["a short secret", "alice:short", "in entry 1 of 1, its secret has fewer than 24 characters"],
    ["a secret without name", `ok:${ALICE},${BOB}`, "in entry 2 of 2, its secret has fewer than 24 characters"],
    ["a name with a slash", `a/b:${ALICE}`, "its name is not 1 to 64 of"],
    ["the name of open mode's owner", `local:${ALICE}`, "its name is local, which is open mode's owner"],
    ["an empty role", `alice:${ALICE}:`, "its role is not 1 to 32 of a-z 0-9 _ -"],
    ["a role in capitals", `alice:${ALICE}:Admin`, "its role is not"],
    ["a role that begins with a digit", `alice:${ALICE}:1st`, "its role is not"],
    ["a long role", `alice:${ALICE}:${"r".repeat(33)}`, "its role is not"],
    ["a fourth field", `alice:${ALICE}:user:x`, "it is not name:secret or name:secret:role"],
  ])(
    "tells the log what is wrong with %s, callers that something is, and nobody a secret",
    async (_, keys, problem) => {
      const thrown = await ownerOf(null, keys).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(HoldfastError);
      const { message, detail } = failureOf(thrown);
      expect(message).toBe("This server's API keys are not set up right. Its log says what is wrong.");
      expect(detail).toContain(problem);
      expect(detail).not.toContain(ALICE);
    },
  );

  it("takes a role of 32 characters", async () => {
    const role = `r${"0_-a".repeat(8)}`.slice(0, 32);
    expect(await ownerOf(`Bearer ${ALICE}`, `alice:${ALICE}:${role}`)).toMatchObject({ roles: [role] });
  });
});

describe("a request", () => {
  it("is refused without a key, and told how to send one", async () => {
    const response = await door().fetch("/v1/models", { headers: { authorization: "none" } });
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="holdfast"');
    expect(await refusal(response)).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      message: "An API key is missing. Send it as `Authorization: Bearer <key>`.",
    });
  });

  it("is refused with a wrong key", async () => {
    const response = await door().fetch("/v1/models", { headers: { authorization: `Bearer ${SECOND}` } });
    expect(await refusal(response)).toMatchObject({ status: 401, message: "This API key is not known here." });
  });

  it("is refused with a key in the query string", async () => {
    const response = await door().fetch(`/v1/models?api_key=${ALICE}`, { headers: { authorization: "none" } });
    expect(response.status).toBe(401);
  });

  it("is refused where there are no keys at all, and told which setting is missing", async () => {
    const response = await door().fetch("/v1/models", {}, {});
    expect(await refusal(response)).toMatchObject({
      status: 401,
      message: expect.stringMatching(/no API keys.*HOLDFAST_API_KEYS.*HOLDFAST_OPEN/),
    });
  });

  it("is refused where the keys can't be used, even in open mode, and only the log says why", async () => {
    const env = { HOLDFAST_API_KEYS: "alice:short", HOLDFAST_OPEN: "1" };
    const { fetch, logged } = door();
    const response = await fetch("/v1/models", { headers: { authorization: "none" } }, env);
    expect(await refusal(response)).toMatchObject({
      status: 500,
      message: "This server's API keys are not set up right. Its log says what is wrong.",
    });
    expect(logged[0]?.fields).toMatchObject({
      level: "error",
      detail: "HOLDFAST_API_KEYS can't be used: in entry 1 of 1, its secret has fewer than 24 characters.",
    });
  });

  it("is refused before anything of its body is read", async () => {
    let pulled = false;
    const body = new ReadableStream(
      {
        pull() {
          pulled = true;
          throw new Error("the body was read");
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", headers: { authorization: "none" }, body, duplex: "half" };
    const response = await door().fetch("/v1/chat/completions", init);
    expect(response.status).toBe(401);
    expect(pulled).toBe(false);
  });

  it("belongs to whom the first authenticator that knows it says", async () => {
    const carol = { id: "carol", name: "Carol", roles: ["user"] };
    const { chat, turns } = door({ deps: { auth: [async () => null, async () => carol, apiKeys()] } });
    await chat({ messages: [{ role: "user", content: "hi" }] });
    expect(turns[0]?.owner).toEqual(carol);
  });

  it("is answered by the health check without a key", async () => {
    const response = await door({ agents: [agent("a")] }).fetch("/healthz", { headers: { authorization: "none" } }, {});
    expect(await response.json()).toEqual({ status: "ok" });
  });
});
