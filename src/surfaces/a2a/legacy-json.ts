import { malformed } from "./errors.ts";
import type { Params } from "./operations.ts";
import { isParams } from "./rpc-envelope.ts";

/**
 * HTTP+JSON of 0.3 is the JSON of its protocol buffers, which differs from that of 1.0 in a few names: a message's parts
 * are its `content`, files are nested, `CANCELLED` has two l, `blocking` is the inverse of `returnImmediately`. The SDK
 * has these codecs only behind Express, so the JSON of one is made that of the other here.
 */

/** A message that is sent, as 1.0 has it. Parts may also be written as in 0.3's JSON-RPC, as some clients do. */
export function decodeSend(body: Params): Params {
  const { message = body.request, configuration, ...rest } = body;
  return {
    ...rest,
    ...(isParams(message) ? { message: decodeMessage(message) } : {}),
    ...(isParams(configuration) ? { configuration: decodeConfiguration(configuration) } : {}),
  };
}

function decodeMessage({ content, parts = content, role, ...message }: Params): Params {
  if (!Array.isArray(parts)) throw malformed("message.content", "is a list of parts");
  const roles: Record<string, string> = { user: "ROLE_USER", agent: "ROLE_AGENT" };
  return { ...message, role: (typeof role === "string" && roles[role]) || role, parts: parts.map(decodePart) };
}

function decodePart(part: unknown, index: number): Params {
  if (!isParams(part)) throw malformed(`message.content[${index}]`, "is an object");
  const { kind: _, file, data, ...rest } = part;
  if (isParams(file)) {
    const { fileWithBytes, fileWithUri, bytes = fileWithBytes, uri = fileWithUri, mimeType, name } = file;
    const where = bytes === undefined ? { url: uri } : { raw: bytes };
    return { ...rest, ...where, ...(mimeType ? { mediaType: mimeType } : {}), ...(name ? { filename: name } : {}) };
  }
  if (isParams(data)) return { ...rest, data: isParams(data.data) ? data.data : data };
  return rest;
}

/** A `false` is left out of protocol buffers' JSON, so a configuration without `blocking` does not block. */
function decodeConfiguration({ blocking, pushNotification, historyLength, ...rest }: Params): Params {
  return {
    ...rest,
    returnImmediately: blocking !== true,
    ...(typeof historyLength === "number" && historyLength > 0 ? { historyLength } : {}),
    ...(isParams(pushNotification) ? { taskPushNotificationConfig: decodePush(pushNotification) } : {}),
  };
}

/** A push configuration: 0.3 has a list of authentication schemes, of which the first counts. */
function decodePush({ authentication, ...rest }: Params): Params {
  if (!isParams(authentication)) return rest;
  const { schemes, credentials } = authentication;
  const scheme = Array.isArray(schemes) ? schemes[0] : schemes;
  return { ...rest, authentication: { scheme, credentials } };
}

/** A request that creates one: what is kept stands within the member `pushNotificationConfig`. */
export function decodeCreatePush({ pushNotificationConfig, config, taskId }: Params): Params {
  const given = isParams(config) ? config.pushNotificationConfig : pushNotificationConfig;
  if (!isParams(given)) throw malformed("pushNotificationConfig", "is missing");
  return { ...decodePush(given), taskId };
}

/** A push configuration of 1.0, or a list of them, in 0.3. */
export function encodePush(result: unknown): unknown {
  if (!isParams(result)) return result;
  if (Array.isArray(result.configs)) return { ...result, configs: result.configs.map(encodePush) };
  const { taskId, authentication, ...rest } = result;
  const schemes = isParams(authentication) ? { ...authentication, schemes: [authentication.scheme] } : null;
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${rest.id}`,
    pushNotificationConfig: { ...rest, ...(schemes === null ? {} : { authentication: schemes }) },
  };
}

/** `{ task }`, `{ statusUpdate }` or `{ artifactUpdate }` of 1.0, in 0.3. */
export function encodeUpdate(update: unknown): unknown {
  if (!isParams(update)) return update;
  const { task, statusUpdate, artifactUpdate } = update;
  if (isParams(task)) return { task: encodeTask(task) };
  if (isParams(statusUpdate)) {
    const { status, ...rest } = statusUpdate;
    const final = isParams(status) && FINAL.includes(String(status.state));
    return { statusUpdate: { ...rest, status: encodeStatus(status), ...(final ? { final } : {}) } };
  }
  if (isParams(artifactUpdate)) {
    const { artifact, ...rest } = artifactUpdate;
    return { artifactUpdate: { ...rest, artifact: encodeArtifact(artifact) } };
  }
  return update;
}

/** The states at which a stream of 0.3 ends. */
const FINAL = [
  ...["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"],
  ...["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"],
];

/** A task of 1.0 in 0.3; anything else as it is. */
export function encodeTask(task: unknown): unknown {
  if (!isParams(task) || !isParams(task.status)) return task;
  const { status, history, artifacts, ...rest } = task;
  return {
    ...rest,
    status: encodeStatus(status),
    ...(Array.isArray(artifacts) ? { artifacts: artifacts.map(encodeArtifact) } : {}),
    ...(Array.isArray(history) ? { history: history.map(encodeMessage) } : {}),
  };
}

function encodeStatus(status: unknown): unknown {
  if (!isParams(status)) return status;
  const { state, message, ...rest } = status;
  return {
    ...rest,
    state: state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state,
    ...(message === undefined ? {} : { message: encodeMessage(message) }),
  };
}

function encodeMessage(message: unknown): unknown {
  if (!isParams(message)) return message;
  const { parts, referenceTaskIds: _, ...rest } = message;
  return { ...rest, content: Array.isArray(parts) ? parts.map(encodePart) : [] };
}

function encodeArtifact(artifact: unknown): unknown {
  if (!isParams(artifact) || !Array.isArray(artifact.parts)) return artifact;
  return { ...artifact, parts: artifact.parts.map(encodePart) };
}

function encodePart(part: unknown): unknown {
  if (!isParams(part)) return part;
  const { text, raw, url, data, mediaType } = part;
  const mimeType = typeof mediaType === "string" ? { mimeType: mediaType } : {};
  if (text !== undefined) return { text };
  if (raw !== undefined) return { file: { fileWithBytes: raw, ...mimeType } };
  if (url !== undefined) return { file: { fileWithUri: url, ...mimeType } };
  return { data: { data: isParams(data) ? data : { value: data } } };
}
