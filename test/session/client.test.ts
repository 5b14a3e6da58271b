import { describe, expect, test } from "vitest";
import { SessionClient, type Stubs } from "../../src/session/client.ts";
import type { SessionRpc, TurnStart } from "../../src/session/contract.ts";
import { listsOf, paginate, withLists } from "../../src/session/page.ts";

/** Stubs of which each answers once, in order. */
function stubs(...answers: readonly Partial<SessionRpc>[]): Stubs & { readonly taken: () => number } {
  let taken = 0;
  return {
    getByName() {
      const answer = answers[taken++];
      if (answer === undefined) throw new Error("no stub is left");
      return answer as SessionRpc;
    },
    taken: () => taken,
  };
}

const fails = (fields: object): Partial<SessionRpc> => ({
  summary: () => Promise.reject(Object.assign(new Error("it broke"), fields)),
});
const answers: Partial<SessionRpc> = { summary: async () => null };
const atOnce = async () => {};

describe("a call of a session", () => {
  test("is made again on a new stub when the object was reset or the way to it broke", async () => {
    const given = stubs(fails({ retryable: true }), fails({ durableObjectReset: true }), answers);
    expect(await new SessionClient(given, "s", atOnce).summary()).toBeNull();
    expect(given.taken()).toBe(3);
  });

  test("is given up after five tries, as an object that can't be reached", async () => {
    const given = stubs(...Array.from({ length: 9 }, () => fails({ retryable: true })));
    await expect(new SessionClient(given, "s", atOnce).summary()).rejects.toMatchObject({
      failure: { reason: "unavailable", retryAfter: 5, detail: "it broke" },
    });
    expect(given.taken()).toBe(5);
  });

  test("is not made again when the object is overloaded, which the caller reads", async () => {
    const given = stubs(fails({ retryable: true, overloaded: true }), answers);
    await expect(new SessionClient(given, "s", atOnce).summary()).rejects.toMatchObject({
      failure: { reason: "unavailable", retryAfter: 5, message: expect.stringContaining("more requests") },
    });
    expect(given.taken()).toBe(1);
  });

  test("is not made again when the fault is the object's own", async () => {
    const given = stubs(fails({}), answers);
    await expect(new SessionClient(given, "s", atOnce).summary()).rejects.toThrow("it broke");
    expect(given.taken()).toBe(1);
  });

  test("says readably that the store can't be asked", async () => {
    const given = stubs({ summary: () => Promise.reject(new Error("unavailable: D1 is down")) });
    await expect(new SessionClient(given, "s", atOnce).summary()).rejects.toMatchObject({
      failure: { reason: "unavailable", retryAfter: 5 },
    });
  });
});

describe("a large answer", () => {
  const start: TurnStart = {
    ...{ kind: "go", fence: 1, turn: "t", resumed: false, mode: "agent", userSeq: 1, lastSeq: 3, deferrals: null },
    ...{
      sentThrough: 0,
      sentWire: "w",
      instructions: null,
      clientSystem: null,
      nextEpoch: 2,
      broken: null,
      evidence: [],
    },
    ...{ lastSuccess: null, newestAssistant: null, pending: null, step: 0 },
    chain: {
      ...{
        key: "m",
        epoch: 1,
        verdict: { prefix: "first" },
        revision: 1,
        prefix: "{}",
        cut: false,
        anchor: null,
        last: null,
      },
      deferred: ["d1", "d2"],
      items: ["i1", "i2", "i3"],
    },
    entries: [
      [1, "e1"],
      [2, "e2"],
    ],
    blobs: [{ hash: "h", media: "image/png", base64: "a text larger than a page" }],
  };

  test("crosses in pages and comes together as it was", async () => {
    const pages = paginate(listsOf(start), 4);
    expect(pages.length).toBeGreaterThan(4);
    const object: Partial<SessionRpc> = {
      begin: async () => withLists(start, pages[0], pages.length - 1),
      page: async (_fence, _of, n) => pages[n] ?? null,
    };
    const client = new SessionClient({ getByName: () => object as SessionRpc }, "s", atOnce);
    const whole = await client.begin({} as Parameters<SessionRpc["begin"]>[0]);
    expect(whole).toEqual({ ...start, more: 0 });
  });

  test.each(["begin", "resume"] as const)(
    "is asked for again by %s when the object forgot it between two pages",
    async (method) => {
      const pages = paginate(listsOf(start), 8);
      let asked = 0;
      const object: Partial<SessionRpc> = {
        async [method]() {
          asked++;
          return withLists(start, pages[0], pages.length - 1);
        },
        page: async (_fence, _of, n) => (asked === 1 ? null : (pages[n] ?? null)),
      };
      const client = new SessionClient({ getByName: () => object as SessionRpc }, "s", atOnce);
      expect(await client[method]({} as never)).toEqual({ ...start, more: 0 });
      expect(asked).toBe(2);
    },
  );
});
