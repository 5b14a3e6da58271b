import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type DevProxy, startProxy } from "../../../scripts/dev/proxy.ts";
import { freePort } from "../../../scripts/dev/ready.ts";

type Headers = Record<string, string | string[]>;

/** Plays wrangler: what it does with a request is the test's. */
let behind: Server;
let proxy: DevProxy;
let port: number;
let handle: (asked: IncomingMessage, answer: ServerResponse) => void;
const reached: IncomingMessage[] = [];

beforeEach(async () => {
  reached.length = 0;
  handle = (_, answer) => answer.end("the worker");
  behind = createServer((asked, answer) => {
    reached.push(asked);
    handle(asked, answer);
  });
  await once(behind.listen(0, "127.0.0.1"), "listening");
  port = await freePort();
  proxy = await startProxy(port, (behind.address() as AddressInfo).port);
});
afterEach(async () => {
  await proxy.close();
  behind.closeAllConnections();
  behind.close();
});

function ask(headers: Headers = {}, method = "GET", host = "127.0.0.1") {
  return request({ host, port, path: "/api/sessions?limit=1", method, headers, agent: false });
}

async function answer(headers: Headers = {}, host?: string) {
  const [response] = await once(ask(headers, "GET", host).end(), "response");
  return { status: response.statusCode, body: await text(response) };
}

it.each(["evil.com", "evil.com:8787", "127.0.0.1.evil.com", "localhost.evil.com", "192.168.1.7:8787", "0.0.0.0:8787"])(
  "a request for the host %s is refused, whatever Miniflare's headers say, and the worker never sees it",
  async (host) => {
    const refused = await answer({ host, "MF-Original-URL": "http://localhost:8787/api/sessions" });
    expect(refused).toEqual({ status: 403, body: expect.stringContaining(`Host "${host}" is not loopback`) });
    expect(reached).toEqual([]);
  },
);

it.each(["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "localhost"])(
  "a request for %s gets through, with its method, path and Host",
  async (host) => {
    expect(await answer({ host })).toEqual({ status: 200, body: "the worker" });
    expect(reached[0]).toMatchObject({ method: "GET", url: "/api/sessions?limit=1", headers: { host } });
  },
);

it("is there for both addresses of this machine and for no other", async () => {
  expect(await answer({}, "::1")).toMatchObject({ status: 200 });
  const others = Object.values(networkInterfaces()).flatMap((found = []) =>
    found.filter(({ internal, family }) => !internal && family === "IPv4"),
  );
  for (const { address } of others) await expect(answer({}, address)).rejects.toThrow("ECONNREFUSED");
});

it("no header of Miniflare's gets through, and every other one does", async () => {
  await answer({
    "MF-Original-URL": "http://localhost/other",
    "mf-op": "GET",
    "Mf-Proxy-Shared-Secret": "guess",
    Authorization: "Bearer key",
    "X-Conversation-Id": "first",
    Cookie: ["a=1", "b=2"],
  });
  expect(reached[0]?.url).toBe("/api/sessions?limit=1");
  expect(Object.keys(reached[0]?.headers ?? {}).filter((name) => name.startsWith("mf-"))).toEqual([]);
  expect(reached[0]?.headers).toMatchObject({
    authorization: "Bearer key",
    "x-conversation-id": "first",
    cookie: "a=1; b=2",
  });
});

it("a target that names a host of its own is refused", async () => {
  const socket = connect({ host: "127.0.0.1", port });
  socket.end("GET http://evil.com/api/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toContain("400 Bad Request");
  expect(reached).toEqual([]);
});

it("an answer arrives piece by piece, while it is written", async () => {
  const writing = Promise.withResolvers<ServerResponse>();
  handle = (_, answer) => {
    answer.writeHead(201, "Made", { "content-type": "text/event-stream", "x-twice": ["1", "2"] }).flushHeaders();
    writing.resolve(answer);
  };
  const [response]: IncomingMessage[] = await once(ask().end(), "response");
  expect(response).toMatchObject({ statusCode: 201, statusMessage: "Made" });
  expect(response?.headers).toMatchObject({ "content-type": "text/event-stream", "x-twice": "1, 2" });
  const writer = await writing.promise;
  const pieces = response?.setEncoding("utf8")[Symbol.asyncIterator]();
  for (const piece of ["data: one\n\n", "data: two\n\n"]) {
    writer.write(piece);
    expect(await pieces?.next()).toEqual({ done: false, value: piece });
  }
  writer.end();
  expect(await pieces?.next()).toMatchObject({ done: true });
});

it("a body arrives piece by piece, while it is sent", async () => {
  const sending = ask({ "transfer-encoding": "chunked" }, "POST");
  const pieces = Promise.withResolvers<AsyncIterator<string>>();
  handle = (asked, answer) => {
    pieces.resolve(asked.setEncoding("utf8")[Symbol.asyncIterator]());
    asked.once("end", () => answer.end("all of it"));
  };
  sending.write("one");
  const read = await pieces.promise;
  expect(await read.next()).toEqual({ done: false, value: "one" });
  sending.end("two");
  expect(await read.next()).toEqual({ done: false, value: "two" });
  expect(await read.next()).toMatchObject({ done: true });
  const [response] = await once(sending, "response");
  expect(await text(response)).toBe("all of it");
});

it.each(["before", "in the middle of"])(
  "a client that goes away %s the answer ends the request behind, so that the turn is cancelled",
  async (when) => {
    const gone = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    handle = (_, answer) => {
      answer.once("close", gone.resolve);
      if (when !== "before") answer.write("data: one\n\n");
      begun.resolve();
    };
    const client = ask().on("error", () => undefined);
    client.end();
    await begun.promise;
    if (when !== "before") await once((await once(client, "response"))[0], "data");
    client.destroy();
    await gone.promise;
    expect(reached).toHaveLength(1);
  },
);

it("an answer that breaks off behind does not look whole", async () => {
  handle = (_, answer) => {
    answer.write("half", () => answer.destroy());
  };
  const [response] = await once(ask().end(), "response");
  await expect(text(response)).rejects.toThrow("aborted");
});

it("an answer that comes before the body was read reaches the client", async () => {
  handle = (_, answer) => {
    answer.writeHead(413, { connection: "close" }).end("too large");
  };
  const sending = ask({ "content-length": "1000000" }, "POST").on("error", () => undefined);
  sending.write("x");
  const [response] = await once(sending, "response");
  expect([response.statusCode, await text(response)]).toEqual([413, "too large"]);
  sending.destroy();
});

it("says so where nobody answers behind it", async () => {
  behind.closeAllConnections();
  behind.close();
  await once(behind, "close");
  expect(await answer()).toMatchObject({ status: 502, body: expect.stringContaining("can't be reached") });
});

it("fails where the port is taken", async () => {
  await expect(startProxy(port, 1)).rejects.toThrow("EADDRINUSE");
});
