import { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { isLoopback } from "../../egress/address.ts";
import { EgressError, egressPolicy, permitted } from "../../egress/refusal.ts";
import { mintId } from "../../http/conversation.ts";
import { MOST_PUSHES, type PushKept } from "../../session/pushes.ts";
import { type Call, sessionOf } from "./call.ts";
import { malformed, noSuchTask } from "./errors.ts";
import { parseTaskId } from "./task-id.ts";
import type { Version } from "./version.ts";

/** A push configuration as it is kept: in which version its receiver reads, and the host that it may not be. */
export interface KeptPush {
  readonly config: unknown;
  readonly version: Version;
  readonly host: string;
}

const CHARS = { url: 2_048, secret: 4_096 } as const;
const ID = /^[A-Za-z0-9._~-]{1,128}$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9_+-]{0,63}$/;
/** What a header may hold: a line break in it would be a header of somebody else's. */
const HEADER = /^[\x20-\x7e]*$/;

/** Keeps where a task's news go. `now`: also what happened to it before this was kept. */
export async function createPush(
  call: Call,
  given: TaskPushNotificationConfig,
  now = false,
): Promise<TaskPushNotificationConfig> {
  const name = parseTaskId(given.taskId);
  if (name === null) throw noSuchTask(given.taskId);
  const config = checkPush(call, given);
  const { host } = new URL(call.place.root);
  const kept: KeptPush = { config: TaskPushNotificationConfig.toJSON(config), version: call.version, host };
  const push = { id: config.id, text: JSON.stringify(kept) };
  const outcome: PushKept = await sessionOf(call, name.contextId).keepPush(name.turn, push, now);
  switch (outcome) {
    case "kept":
      return config;
    case "full":
      throw new UnsupportedOperationError(`A task has at most ${MOST_PUSHES} push configurations.`);
    case "unknown":
      throw noSuchTask(given.taskId);
  }
}

/** Checks a configuration before anything is stored. Throws -32602 that says where and why. */
export function checkPush(call: Call, given: TaskPushNotificationConfig): TaskPushNotificationConfig {
  const { url, id = "", token, authentication } = given;
  if (id !== "" && !ID.test(id)) throw malformed("id", "is 1 to 128 characters of A-Z a-z 0-9 . _ ~ -");
  if (url.length > CHARS.url) throw malformed("url", `has more than ${CHARS.url} characters`);
  checkTarget(call, url);
  checkSecret("token", token);
  if (authentication !== undefined) {
    const { scheme, credentials } = authentication;
    if (!SCHEME.test(scheme)) throw malformed("authentication.scheme", "is the name of an HTTP authentication scheme");
    checkSecret("authentication.credentials", credentials);
  }
  return { ...given, tenant: "", id: id === "" ? mintId() : id };
}

function checkTarget({ env, place }: Call, url: string): void {
  try {
    const target = permitted(url, egressPolicy(env, new URL(place.root).host));
    if (target.protocol === "https:" || isLoopback(target.hostname)) return;
  } catch (thrown) {
    if (thrown instanceof EgressError) throw malformed("url", thrown.message);
    throw thrown;
  }
  throw malformed("url", "must be https, since secrets and answers go there");
}

function checkSecret(field: string, value: string): void {
  if (value.length > CHARS.secret) throw malformed(field, `has more than ${CHARS.secret} characters`);
  if (!HEADER.test(value)) throw malformed(field, "has characters that no header may have");
}

/** Where a task's news go, by id. */
export async function listPushes(call: Call, taskId: string): Promise<TaskPushNotificationConfig[]> {
  const name = parseTaskId(taskId);
  const pushes = name === null ? null : await sessionOf(call, name.contextId).pushes(name.turn);
  if (pushes === null) throw noSuchTask(taskId);
  return pushes.map(({ text }) => TaskPushNotificationConfig.fromJSON(readKept(text).config));
}

export async function getPush(call: Call, taskId: string, id: string): Promise<TaskPushNotificationConfig> {
  const all = await listPushes(call, taskId);
  // In 0.3 the id may be left out where there is one.
  const found = id === "" && all.length === 1 ? all[0] : all.find((config) => config.id === id);
  if (found === undefined) throw noSuchPush(id);
  return found;
}

/** Deleting what is not there is done already; only the task must be there. */
export async function deletePush(call: Call, taskId: string, id: string): Promise<void> {
  const name = parseTaskId(taskId);
  if (name === null) throw noSuchTask(taskId);
  const session = sessionOf(call, name.contextId);
  if ((await session.pushes(name.turn)) === null) throw noSuchTask(taskId);
  await session.dropPush(name.turn, id);
}

function noSuchPush(id: string): Error {
  return new TaskNotFoundError(`There is no push configuration ${JSON.stringify(id)}.`);
}

/** Reads back what {@link createPush} kept. */
export function readKept(text: string): KeptPush {
  const kept: KeptPush = JSON.parse(text);
  return kept;
}
