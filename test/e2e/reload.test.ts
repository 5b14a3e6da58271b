import { afterAll, beforeAll, expect, test } from "vitest";
import { call, say } from "../emulators/anthropic/index.ts";
import { declared, expectAllExtend, loadedAt, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const CORE = ["clock", "install", "fail", "destroy", "picture", "marker", "wait", "once", "tool_search"];

test("a tool that appears after a call is deferred at that call, before and after the process ends", async () => {
  stage.model.script(call("install", { name: "mcp_hello" }, "call_1"), say("Installed."));
  const first = await stage.say("reload", "install hello");
  expect(first.error).toBeNull();
  expect(first.text).toBe("Installed.");
  expect(first.headers.get("x-holdfast-prefix")).toBe("first");
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(2);
  expect(declared(requests[0])).toEqual({ inline: CORE, deferred: [] });
  expect(declared(requests[1])).toEqual({ inline: CORE, deferred: ["mcp_hello"] });

  await stage.workerd.fresh({ LATE: "mcp_hello" });
  stage.model.script(call("mcp_hello", { text: "there" }), say("Said."));
  const second = await stage.say("reload", "say hello");
  expect(second.text).toBe("Said.");
  expect(second.headers.get("x-holdfast-prefix")).toBe("extends");
  requests.push(...stage.takeRequests());
  expect(declared(requests[2])).toEqual({ inline: CORE, deferred: ["mcp_hello"] });
  expectAllExtend(requests);
  expect(Object.keys(loadedAt(requests[3]))).toEqual(["mcp_hello"]);
  expect(loadedAt(requests[3])).toEqual(loadedAt(requests[1]));
});
