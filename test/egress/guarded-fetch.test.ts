import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { guardedFetch } from "../../src/egress/guarded-fetch.ts";
import { redirected } from "../../src/egress/redirect.ts";
import { EgressError, type EgressPolicy } from "../../src/egress/refusal.ts";
import { startWorkerd } from "../workerd.ts";

/** A request as it arrived. */
interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Site {
  readonly url: string;
  readonly arrived: Arrived[];
  close(): Promise<void>;
}

/** Answers by path: `/to/<status>/<url>` redirects, `/big/<n>` has n bytes, `/never` says nothing after its headers. */
async function startSite(): Promise<Site> {
  const arrived: Arrived[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { url: path = "", method = "" } = request;
    let body = "";
    for await (const chunk of request) body += chunk;
    arrived.push({ method, path, headers: request.headers, body });
    const [, kind, first = "", ...rest] = path.split("/");
    if (kind === "to") {
      response.writeHead(Number(first), { location: decodeURIComponent(rest.join("/")) });
      return void response.end("moved");
    }
    if (kind === "big") return void response.end("x".repeat(Number(first)));
    if (kind === "chunks") {
      for (let n = 0; n < Number(first); n++) response.write("x".repeat(100));
      return void response.end();
    }
    if (kind === "silent") return;
    if (kind === "never") return void response.writeHead(200).write("begin");
    response.end("here");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    arrived,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const LOCAL: EgressPolicy = { allowLoopback: true, ownHost: null };
let one: Site;
let other: Site;
beforeAll(async () => {
  [one, other] = await Promise.all([startSite(), startSite()]);
});
afterEach(() => {
  one.arrived.length = 0;
  other.arrived.length = 0;
});
afterAll(() => Promise.all([one.close(), other.close()]));

const to = (status: number, url: string) => `/to/${status}/${encodeURIComponent(url)}`;

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof EgressError) return thrown.refusal.reason;
    return String(thrown);
  }
  return "none";
}

test("an internal address is not asked at all", async () => {
  const strict = guardedFetch({ allowLoopback: false, ownHost: null });
  expect(await refusal(strict(`${one.url}/`))).toBe("internal_address");
  expect(await refusal(strict(new Request(`${one.url}/`)))).toBe("internal_address");
  expect(one.arrived).toEqual([]);
});

test.for<[target: string, reason: string]>([
  ["http://169.254.169.254/latest/meta-data/", "internal_address"],
  ["http://2130706433.internal/", "internal_address"],
  ["file:///etc/passwd", "not_http"],
  ["https://user:secret@example.com/", "credentials_in_url"],
])("a redirect to %s is refused: %s", async ([target, reason]) => {
  for (const status of [301, 302, 303, 307, 308]) {
    expect(await refusal(guardedFetch(LOCAL)(one.url + to(status, target)))).toBe(reason);
  }
});

test("a redirect never leads from https to http", () => {
  const from = { url: new URL("https://example.com/a"), method: "GET", headers: new Headers(), body: null };
  const to = (location: string) => redirected(from, 302, location, LOCAL)?.url.href;
  expect(() => to("http://example.com/b")).toThrow("A redirect from https to http (example.com) is not followed.");
  expect(to("https://example.org/b")).toBe("https://example.org/b");
  expect(to("/b")).toBe("https://example.com/b");
});

test("a redirect to the server's own host is refused, at whatever hop", async () => {
  const policy = { allowLoopback: true, ownHost: new URL(other.url).host };
  const path = to(302, `${one.url}${to(302, `${other.url}/a2a`)}`);
  expect(await refusal(guardedFetch(policy)(one.url + path))).toBe("own_host");
  expect(one.arrived).toHaveLength(2);
  expect(other.arrived).toEqual([]);
});

test("within an origin a redirect keeps the headers; across origins only harmless ones go on", async () => {
  const headers = { authorization: "Bearer secret", cookie: "a=b", "x-api-key": "secret", accept: "text/plain" };
  const path = to(302, to(302, `${other.url}/end`));
  const response = await guardedFetch(LOCAL)(one.url + path, { headers });
  expect(await response.text()).toBe("here");
  expect(one.arrived.map(({ headers }) => headers.authorization)).toEqual(["Bearer secret", "Bearer secret"]);
  expect(one.arrived.map(({ headers }) => headers["x-api-key"])).toEqual(["secret", "secret"]);
  const arrived: IncomingMessage["headers"] = other.arrived[0]?.headers ?? {};
  expect(arrived.authorization).toBeUndefined();
  expect(arrived.cookie).toBeUndefined();
  expect(arrived["x-api-key"]).toBeUndefined();
  expect(arrived.accept).toBe("text/plain");
});

test.for([
  [301, "GET", ""],
  [302, "GET", ""],
  [303, "GET", ""],
  [307, "POST", "a body"],
  [308, "POST", "a body"],
] as const)("after %d a POST goes on as %s", async ([status, method, body]) => {
  await guardedFetch(LOCAL)(one.url + to(status, "/end"), { method: "POST", body: "a body" });
  expect(one.arrived.at(-1)).toMatchObject({ method, path: "/end", body });
});

test("a body that is a stream goes on too", async () => {
  const body = new Blob(["a body"]).stream();
  const init = { method: "POST", body, duplex: "half" };
  await guardedFetch(LOCAL)(one.url + to(307, "/end"), init);
  expect(one.arrived.map(({ body }) => body)).toEqual(["a body", "a body"]);
});

test("redirects that never end do end", async () => {
  const loop = (n: number): string => (n === 0 ? "/end" : to(302, loop(n - 1)));
  expect((await guardedFetch(LOCAL, { redirects: 3 })(one.url + loop(3))).status).toBe(200);
  expect(await refusal(guardedFetch(LOCAL, { redirects: 3 })(one.url + loop(4)))).toBe("too_many_redirects");
});

test("all requests of one guard count together, redirects too", async () => {
  const fetch = guardedFetch(LOCAL, { requests: 3 });
  await fetch(one.url + to(302, "/end"));
  await fetch(`${one.url}/again`);
  expect(await refusal(fetch(`${one.url}/again`))).toBe("too_many_requests");
});

test("an answer that announces more than the limit is refused, and one that just is longer fails while it is read", async () => {
  const fetch = guardedFetch(LOCAL, { bytes: 1_000 });
  expect((await (await fetch(`${one.url}/big/1000`)).text()).length).toBe(1_000);
  expect(await refusal(fetch(`${one.url}/big/1001`))).toBe("too_large");
  expect((await (await fetch(`${one.url}/chunks/10`)).text()).length).toBe(1_000);
  expect(await refusal((await fetch(`${one.url}/chunks/11`)).text())).toBe("too_large");
});

test.for(["silent", "never"])("an answer that does not come in time is given up (%s)", async (kind) => {
  const asked = guardedFetch(LOCAL, { ms: 100 })(`${one.url}/${kind}`).then((response) => response.text());
  expect(await refusal(asked)).toBe("too_slow");
});

test("the caller's own signal ends a request, and is not taken for a time-out", async () => {
  const controller = new AbortController();
  const response = await guardedFetch(LOCAL)(`${one.url}/never`, { signal: controller.signal });
  controller.abort(new Error("left"));
  expect(await refusal(response.text())).toBe("Error: left");
  expect(await refusal(guardedFetch(LOCAL)(`${one.url}/`, { signal: controller.signal }))).toBe("Error: left");
});

test("in workerd the same holds: redirects by hand, credentials dropped, size and time", async () => {
  const workerd = await startWorkerd({ entry: "test/egress/worker.ts", bindings: { HOLDFAST_ALLOW_LOOPBACK: "1" } });
  try {
    const ask = async (path: string): Promise<unknown> => {
      const response = await workerd.fetch("/fetch", { method: "POST", body: JSON.stringify(one.url + path) });
      return response.json();
    };
    expect(await ask(to(302, `${other.url}/end`))).toEqual({ status: 200, text: "here" });
    expect(one.arrived[0]?.headers.authorization).toBe("Bearer secret");
    expect(other.arrived[0]?.headers.authorization).toBeUndefined();
    expect(await ask(to(302, "http://169.254.169.254/"))).toEqual({ refused: "internal_address" });
    expect(await ask(to(307, workerd.url.href))).toEqual({ refused: "own_host" });
    expect(await ask("/chunks/11")).toEqual({ refused: "too_large" });
    expect(await ask("/never")).toEqual({ refused: "too_slow" });
  } finally {
    await workerd.dispose();
  }
});
