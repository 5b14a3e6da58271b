import type { Message, Part, StreamResponse, Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { KEYS, type Stage, type Who } from "../../e2e/chat.ts";

/** A protocol version over a binding. */
export interface Flavour {
  readonly version: "1.0" | "0.3";
  readonly binding: "JSONRPC" | "HTTP+JSON";
}

export const FLAVOURS: readonly Flavour[] = [
  { version: "1.0", binding: "JSONRPC" },
  { version: "1.0", binding: "HTTP+JSON" },
  { version: "0.3", binding: "JSONRPC" },
  { version: "0.3", binding: "HTTP+JSON" },
];

const MODERN: Flavour = { version: "1.0", binding: "JSONRPC" };

export interface ClientOptions extends Partial<Flavour> {
  readonly who?: Who;
  /** Its agent by name; the first one on bare paths if not given. */
  readonly agent?: string;
  /** Which isolate is asked, see `Workerd.fetchClone`; 0 is the first. */
  readonly isolate?: number;
}

/** The SDK's own client, made from the card that the server serves, for one of the card's interfaces. */
export async function clientOf(stage: Stage, options: ClientOptions = {}): Promise<Client> {
  const { who = "ann", agent, isolate = 0, version = "1.0", binding = "JSONRPC" } = options;
  const fetchImpl: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${KEYS[who]}`);
    const path = pathname + search;
    return isolate === 0
      ? stage.workerd.fetch(path, { ...init, headers })
      : stage.workerd.fetchClone(isolate, path, { ...init, headers });
  };
  const legacyCompat = { enabled: true };
  const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat });
  const card = await resolver.resolve(`${stage.workerd.url.origin}${agent === undefined ? "" : `/agents/${agent}`}/`);
  const supportedInterfaces = card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion === version,
  );
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    new RestTransportFactory({ fetchImpl, legacyCompat }),
  ];
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

let count = 0;

/** A user's message; every one has an id of its own. */
export function message(text: string, more: Partial<Message> = {}): Message {
  count += 1;
  return {
    messageId: `message-${process.pid}-${count}`,
    contextId: "",
    taskId: "",
    role: 1,
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

/** What a request asks beside its message. */
export interface Asked {
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
}

export function request(of: Message, { returnImmediately = false, historyLength }: Asked = {}) {
  return {
    tenant: "",
    message: of,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength,
      returnImmediately,
    },
    metadata: undefined,
  };
}

/** Sends a message and answers its task. */
export async function send(client: Client, of: Message, asked: Asked = {}): Promise<Task> {
  const result = await client.sendMessage(request(of, asked));
  if (!("artifacts" in result)) throw new Error("the answer is a message, not a task");
  return result;
}

export async function collect(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The text of all artifacts of a task. */
export function textOf({ artifacts }: Pick<Task, "artifacts">): string {
  return artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")))
    .join("");
}

/** Texts one behind the other are one. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last?.content?.$case === "text" && part.content?.$case === "text") {
      const content = { $case: "text" as const, value: last.content.value + part.content.value };
      all[all.length - 1] = { ...last, content };
    } else {
      all.push(part);
    }
  }
  return all;
}

/**
 * The task that a stream comes to, as a client puts it together. The SDK's reader of HTTP+JSON in 0.3 loses the field
 * `append` (1.3.0, `FromProto.taskArtifactUpdateEvent`), so there every piece of an answer counts as added.
 */
export function played(events: readonly StreamResponse[], { version, binding }: Flavour = MODERN): Task {
  const loses = version === "0.3" && binding === "HTTP+JSON";
  const [first, ...rest] = events;
  if (first?.payload?.$case !== "task") throw new Error("a stream begins with its task");
  const task = structuredClone(first.payload.value);
  for (const { payload } of rest) {
    if (payload?.$case === "statusUpdate") task.status = payload.value.status;
    if (payload?.$case !== "artifactUpdate" || payload.value.artifact === undefined) continue;
    const { artifact, append } = payload.value;
    const at = task.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
    const known = task.artifacts[at];
    if (known === undefined) task.artifacts.push(structuredClone(artifact));
    else if (append || loses) known.parts = joined([...known.parts, ...artifact.parts]);
    else task.artifacts[at] = structuredClone(artifact);
  }
  return task;
}
