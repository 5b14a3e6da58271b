import { expect, test } from "vitest";
import { createParking, parkAt, say } from "../emulators/anthropic/index.ts";
import { KEYS, startStage } from "./chat.ts";

test("x", async () => {
  const stage = await startStage({});
  const parking = createParking<any>();
  stage.model.script([say("Some words, and then "), parkAt(6, parking)]);
  const ac = new AbortController();
  const t0 = Date.now();
  const res = await stage.workerd.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.ann}`, "content-type": "application/json", "x-conversation-id": "x" },
    body: JSON.stringify({ stream: true, messages: [{ role: "user", content: "hi" }] }),
    signal: ac.signal,
  });
  await res.body!.getReader().read();
  ac.abort();
  for (let i = 0; i < 8; i++) {
    await new Promise((r) => setTimeout(r, 400));
    console.log(Date.now() - t0, stage.model.requests[0]?.outcome);
  }
  await stage.close();
}, 30000);
