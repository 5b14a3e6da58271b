import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { isLoopback } from "../../src/http/open-mode.ts";

/** Both names of this machine: `localhost` may be either. No other address is ever listened on. */
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** Room for long cookies and keys: Node refuses more than 16 KB by default. */
const MAX_HEADER_BYTES = 128 * 1024;

/** Headers of one connection, not of the message. `expect` is answered by this side already. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(["connection", "expect", "keep-alive", "proxy-connection", "upgrade"]);

export interface DevProxy {
  close(): Promise<void>;
}

/**
 * The door of `npm run dev`: listens on `port` of this machine's loopback and hands every request to `127.0.0.1:target`.
 *
 * Miniflare takes a request's URL and Host from its `MF-*` headers before the worker sees it. A web page under a name of
 * its own that it lets point to 127.0.0.1 (DNS rebinding) may set these headers, and the worker's check of the Host would
 * pass. So the Host is checked here, where it is still the one that was sent, and no `MF-*` header goes through.
 *
 * Streams both ways without a buffer; a client that goes away ends the request behind, which is how the worker learns
 * that a turn is cancelled. Rejects where the port is taken.
 */
export async function startProxy(port: number, target: number): Promise<DevProxy> {
  const servers = await Promise.all(LOOPBACK.map((host) => listening(host, port, target)));
  return {
    async close() {
      await Promise.all(servers.map((server) => server && closed(server)));
    },
  };
}

/** Null where this machine doesn't have the address: IPv6 may be switched off. */
function listening(host: string, port: number, target: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (asked, answer) => forward(asked, answer, target));
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = host === "::1" && (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT");
      if (isMissing) resolve(null);
      else reject(error);
    });
    server.listen({ host, port }, () => resolve(server));
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function forward(asked: IncomingMessage, answer: ServerResponse, target: number): void {
  const { host = "" } = asked.headers;
  const refusal = refusalOf(host, asked.url);
  if (refusal !== null) {
    refuse(answer, refusal.status, refusal.message);
    return;
  }
  const behind = request({
    host: "127.0.0.1",
    port: target,
    method: asked.method,
    path: asked.url,
    headers: ["host", host, ...kept(asked.rawHeaders, isForBehind)],
    maxHeaderSize: MAX_HEADER_BYTES,
    // A connection of its own: its end is the request's end, and none is found closed when it is used again.
    agent: false,
  });
  let isAnswered = false;
  behind.once("response", (response) => {
    isAnswered = true;
    answer.writeHead(
      response.statusCode ?? 502,
      response.statusMessage,
      kept(response.rawHeaders, (name) => !HOP_BY_HOP.has(name) && name !== "transfer-encoding"),
    );
    answer.flushHeaders();
    // An answer that broke off must not look whole: `pipeline` ends the client's connection with it.
    pipeline(response, answer, () => behind.destroy());
  });
  behind.on("error", (error) => {
    if (!isAnswered) refuse(answer, 502, `The worker can't be reached: ${error.message}`);
  });
  answer.once("close", () => behind.destroy());
  // Not `pipeline`: the worker may answer, and stop listening, before it has read the whole body.
  asked.pipe(behind);
}

function refusalOf(host: string, target = ""): { status: number; message: string } | null {
  if (!isLoopback(`http://${host}`)) {
    const message = `npm run dev answers this machine only, and Host "${host}" is not loopback. Use http://localhost.`;
    return { status: 403, message };
  }
  // `GET http://other/ HTTP/1.1` names a host that the check above did not see.
  return target.startsWith("/") ? null : { status: 400, message: "The request's target must be a path." };
}

function isForBehind(name: string): boolean {
  return name !== "host" && !name.startsWith("mf-") && !HOP_BY_HOP.has(name);
}

/** The headers of a raw list (name, value, name, value, …) that pass. `passes` sees the name in lower case. */
function kept(raw: readonly string[], passes: (name: string) => boolean): string[] {
  return raw.filter((_, index) => passes((raw[index - (index % 2)] ?? "").toLowerCase()));
}

function refuse(answer: ServerResponse, status: number, message: string): void {
  if (answer.destroyed || answer.headersSent) return;
  answer.statusCode = status;
  answer.setHeader("content-type", "text/plain; charset=utf-8").setHeader("connection", "close").end(`${message}\n`);
}
