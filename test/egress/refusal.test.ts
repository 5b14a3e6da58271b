import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EgressError, type EgressPolicy, egressPolicy, permitted } from "../../src/egress/refusal.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { TARGETS } from "./targets.ts";

const STRICT: EgressPolicy = { allowLoopback: false, ownHost: null };

function verdict(url: string, policy: EgressPolicy): string {
  try {
    permitted(url, policy);
    return "permitted";
  } catch (thrown) {
    if (thrown instanceof EgressError) return thrown.refusal.reason;
    throw thrown;
  }
}

describe("The guard knows, in every spelling,", () => {
  test.for(Object.entries(TARGETS))("%s", ([_, targets]) => {
    expect(targets.map(([url]) => [url, verdict(url, STRICT)])).toEqual(targets);
  });
});

describe("In workerd", () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startWorkerd({ entry: "test/egress/worker.ts" });
  });
  afterAll(() => workerd.dispose());

  test("its URL parser leads to the same verdicts", async () => {
    const targets = Object.values(TARGETS).flat();
    const response = await workerd.fetch("/verdicts", {
      method: "POST",
      body: JSON.stringify(targets.map(([url]) => url)),
    });
    const verdicts: unknown = await response.json();
    expect(verdicts).toEqual(targets.map(([, says]) => says));
  });

  test("the worker does not call itself, unless a test's setting sends it there by another port", async () => {
    const response = await workerd.fetch("/fetch", { method: "POST", body: JSON.stringify(workerd.url) });
    expect(await response.json()).toEqual({ refused: "own_host" });
  });
});

test("with HOLDFAST_ALLOW_LOOPBACK this machine may be asked, and nothing else that is internal", () => {
  const policy = egressPolicy({ HOLDFAST_ALLOW_LOOPBACK: "1" }, null);
  for (const host of ["localhost:1", "127.0.0.1", "[::1]:8080", "127.1"]) {
    expect(verdict(`http://${host}/`, policy)).toBe("permitted");
  }
  for (const host of ["0.0.0.0", "10.0.0.1", "169.254.169.254", "[::ffff:127.0.0.1]", "metadata.google.internal"]) {
    expect(verdict(`http://${host}/`, policy)).toBe("internal_address");
  }
});

test.for(["", "0", "false", undefined])("HOLDFAST_ALLOW_LOOPBACK=%s allows nothing", (setting) => {
  const env = setting === undefined ? {} : { HOLDFAST_ALLOW_LOOPBACK: setting };
  expect(verdict("http://localhost/", egressPolicy(env, null))).toBe("internal_address");
});

test("the server's own host is refused, under any port, case and trailing dot", () => {
  const policy: EgressPolicy = { allowLoopback: true, ownHost: "agents.example.com" };
  for (const host of ["agents.example.com", "AGENTS.example.com:8443", "agents.example.com."]) {
    expect(verdict(`https://${host}/a2a`, policy)).toBe("own_host");
  }
  expect(verdict("https://other.example.com/", policy)).toBe("permitted");
});

test("on this machine another port is another server, and the own one is refused under each of its names", () => {
  const policy: EgressPolicy = { allowLoopback: true, ownHost: "127.0.0.1:8787" };
  for (const host of ["127.0.0.1:8787", "localhost:8787", "[::1]:8787"]) {
    expect(verdict(`http://${host}/`, policy)).toBe("own_host");
  }
  expect(verdict("http://127.0.0.1:8788/", policy)).toBe("permitted");
});
