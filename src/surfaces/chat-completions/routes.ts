import { type Context, Hono } from "hono";
import { readJson } from "../../http/body.ts";
import { givenConversation, resolveConversation } from "../../http/conversation.ts";
import type { AppDeps, HttpEnv } from "../../http/deps.ts";
import { eventStream } from "../../http/event-stream.ts";
import { executionContext } from "../../http/execution-context.ts";
import { failureFields } from "../../http/log.ts";
import { readOnce } from "../../http/once.ts";
import { TimedReader } from "../../http/timed-reader.ts";
import { ignoredSettings } from "../../turn/settings.ts";
import { type Failure, HoldfastError } from "../../values/errors.ts";
import { isAuxiliary } from "./auxiliary.ts";
import { findBegun, rememberBegun } from "./begun.ts";
import { readMessages, sentMessages, transcriptMessages } from "./messages.ts";
import { chooseAgent, modelObject, offeredAgents } from "./models.ts";
import { ATTACHMENTS, parseChatBody } from "./request.ts";
import { streamCompletion, wholeCompletion } from "./respond.ts";
import { readSettings } from "./settings.ts";
import { findConversation, rememberTranscript } from "./transcript.ts";
import { HEAD_MS, prefixHeader, readHead } from "./turn-head.ts";
import type { Head } from "./wire.ts";

/** OpenAI's Chat Completions: the models, which are the agents, and one turn a request. */
export function chatCompletions(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  for (const base of ["/v1", ""]) {
    routes.get(`${base}/models`, (c) => {
      return c.json({ object: "list", data: offeredAgents(c, deps).map(modelObject) });
    });
    routes.get(`${base}/models/:model`, (c) => {
      const model = c.req.param("model");
      const agent = offeredAgents(c, deps).find(({ name }) => name === model);
      if (agent === undefined) {
        throw new HoldfastError({ reason: "model_not_found", message: `There is no model ${JSON.stringify(model)}.` });
      }
      return c.json(modelObject(agent));
    });
    routes.post(`${base}/chat/completions`, (c) => complete(c, deps));
  }
  return routes;
}

async function complete(c: Context<HttpEnv>, deps: AppDeps): Promise<Response> {
  const { owner, requestId } = c.var;
  const sent = await readJson(c.req.raw, ATTACHMENTS);
  const body = parseChatBody(sent);
  const once = readOnce(c.req.raw, sent);
  const agent = chooseAgent(c, deps, body.model ?? null);
  c.set("agent", agent);
  const { user, before, system, blobs } = readMessages(body.messages);
  const auxiliary = isAuxiliary(user, before);
  const given = auxiliary ? null : givenConversation(c.req.raw.headers, body);
  const whose = { owner: owner.id, agent: agent.name, requestId };
  const transcript = { system, messages: transcriptMessages([...before, user]) };
  const conversation = await resolveConversation(given, once, async () => {
    const begun = once.repeated ? await findBegun(deps, c.env.DB, whose, once) : null;
    return begun ?? (auxiliary ? null : findConversation(deps, c.env.DB, whose, transcript));
  });
  c.header("x-conversation-id", conversation.id);

  const settings = readSettings(body);
  const ignored = ignoredSettings(deps.runtime, agent, c.env, settings);
  if (ignored.length > 0) c.header("x-holdfast-ignored", ignored.join(", "));

  const ctx = executionContext(c);
  if (conversation.minted) {
    ctx.waitUntil(rememberBegun(deps, c.env.DB, { ...whose, conversation: conversation.id }, once));
  }
  const turn = deps.startTurn(c.env, ctx, {
    agent,
    owner,
    conversation,
    user: { content: user.content, blobs },
    sent: sentMessages([...before, user]),
    seed: before,
    clientSystem: system,
    settings,
    signal: c.req.raw.signal,
    onDisconnect: "cancel",
    requestId,
    traceparent: c.req.header("traceparent") ?? null,
    once,
    host: new URL(c.req.url).host,
  });

  const head: Head = { id: `chatcmpl-${turn.id}`, created: Math.floor(Date.now() / 1000), model: agent.name };
  const events = new TimedReader(turn.events);
  const save = (answer: string) =>
    rememberTranscript(deps, c.env.DB, { ...whose, conversation: conversation.id }, transcript, answer);
  // A client that names its conversation goes on by that name: its answer goes out before D1 is asked.
  let unsaved: string | null = null;
  const remember = async (answer: string) => {
    if (auxiliary) return;
    if (given === null) await save(answer);
    else unsaved = answer;
  };
  const saveLater = async () => {
    if (unsaved !== null) await save(unsaved);
  };

  if (!body.stream) {
    const whole = wholeCompletion(events, head, remember);
    // The transcript is noted even if the client has left; a failure is thrown to it below.
    ctx.waitUntil(whole.then(saveLater, () => {}));
    const answer = await whole;
    return c.json(answer.body, 200, prefixHeader(answer.requests));
  }

  const begun = await readHead(events, HEAD_MS);
  const options = {
    includeUsage: body.stream_options?.include_usage === true,
    remember,
    failed: (failure: Failure) => deps.log("stream failed", { requestId, ...failureFields(failure), level: "error" }),
  };
  const stream = eventStream((send) => streamCompletion(begun, events, head, options, send));
  ctx.waitUntil(stream.done.then(saveLater));
  return c.body(stream.body, 200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    ...prefixHeader(begun),
  });
}
