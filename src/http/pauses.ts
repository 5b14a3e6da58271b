import { Hono } from "hono";
import * as z from "zod";
import { answerPause } from "../turn/answer-pause.ts";
import type { TurnRequest } from "../turn/runtime.ts";
import type { PauseAnswer } from "../values/pause.ts";
import { parse } from "./bad-request.ts";
import { readJson } from "./body.ts";
import type { AppDeps, HttpEnv } from "./deps.ts";
import { found, openSession } from "./open-session.ts";

/** Characters of an answer or a reason: far more than anybody types, and far less than a row takes. */
const MOST_CHARS = 100_000;

const text = z.string().trim().min(1).max(MOST_CHARS);
const decisionBody = z.discriminatedUnion("decision", [
  z.strictObject({ decision: z.literal("approve") }),
  z.strictObject({ decision: z.literal("deny"), reason: text.optional() }),
]);
const answerBody = z.strictObject({
  answer: z
    .json()
    .transform((given) => (typeof given === "string" ? given.trim() : given === null ? "" : JSON.stringify(given)))
    .pipe(text),
});

/** What waits for the caller in a session, and the answers. */
export function pauseRoutes(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();

  routes.get("/api/sessions/:id/pauses", async (c) => {
    const { session, id } = openSession(deps, c);
    return c.json({ pauses: found(await session.pauses(), id) });
  });

  routes.post("/api/sessions/:id/pauses/:pauseId", async (c) => {
    const { session, id } = openSession(deps, c);
    found(await session.summary(), id);
    const answer = readAnswer(await readJson(c.req.raw));
    const { owner, agent, requestId } = c.var;
    const conversation = { id, minted: false };
    const whose = { owner, agent, conversation, requestId, traceparent: c.req.header("traceparent") ?? null };
    const pause = c.req.param("pauseId");
    // The answer to this request is not the turn's: it goes on by itself, for as long as it takes.
    const goOn = async (request: TurnRequest) => {
      await deps.startInBackground(c.env, request);
      return true;
    };
    const goesOn = await answerPause({ ...deps, goOn }, c.env, whose, pause, answer);
    return c.json({ id: pause, answered: true, goesOn: goesOn ?? false });
  });

  return routes;
}

/** An answer as a request brings it. Throws a `bad_request` that says which fields there are. */
function readAnswer(body: unknown): PauseAnswer {
  if (typeof body === "object" && body !== null && "decision" in body) {
    const given = parse(decisionBody, body);
    return given.decision === "approve"
      ? { kind: "plan", decision: "approve" }
      : { kind: "plan", decision: "deny", reason: given.reason ?? null };
  }
  return { kind: "question", answer: parse(answerBody, body).answer };
}
