import type { Workerd } from "../workerd.ts";
import type { Look, Said } from "./workerd-place.ts";
import type { Deployed } from "./workerd-worker.ts";

export const KEY = "ring-secret-ring-secret-ring";
/** No request, and no turn that goes on by itself, needs so long, with its lease and all else that runs beside it. */
const END_MS = 60_000;

/** What the worker answered: its status, and its body. */
export interface Reply {
  readonly status: number;
  readonly body: {
    readonly id?: string;
    readonly mode?: string;
    readonly pauses?: readonly { readonly id: string; readonly kind: "plan" | "question" }[];
    /** An answer to a pause: whether the turn goes on with it. */
    readonly goesOn?: boolean;
    readonly choices?: readonly { readonly message?: { readonly content?: string } }[];
    readonly error?: { readonly message?: string };
  };
}

/** The worker as the ring's clients reach it: its HTTP API, and the two routes that only the ring's worker has. */
export class RingApi {
  readonly #workerd: Workerd;

  constructor(workerd: Workerd) {
    this.#workerd = workerd;
  }

  async deploy(list: readonly Deployed[]): Promise<void> {
    await this.#workerd.fetch("/deploy", { method: "POST", body: JSON.stringify(list) });
  }

  /** `ends`: also why chains are over. */
  async look(agent: string, conversation: string, ends = false): Promise<Look> {
    const query = new URLSearchParams({ agent, conversation, ...(ends ? { ends: "yes" } : {}) });
    const response = await this.#workerd.fetch(`/look?${query}`);
    const look: Look = JSON.parse(await response.text());
    return look;
  }

  /** Says something as a chat client does, with all that it shows of its history. */
  say(agent: string, conversation: string, messages: readonly Said[]): Promise<Reply> {
    return this.#ask("POST", "/v1/chat/completions", { model: agent, messages }, { "x-conversation-id": conversation });
  }

  /** A call of the sessions API. */
  session(method: "GET" | "POST" | "PATCH" | "DELETE", agent: string, path: string, body?: object): Promise<Reply> {
    return this.#ask(method, `/agents/${agent}/api/sessions/${path}`, body);
  }

  /** Follows the newest turn to its end. Answers its last event. Rejects when none comes. */
  async follow(agent: string, conversation: string): Promise<{ type: string; failure?: { message?: string } } | null> {
    const response = await this.#workerd.fetch(`/agents/${agent}/api/sessions/${conversation}/stream`, {
      headers: { authorization: `Bearer ${KEY}` },
      signal: AbortSignal.timeout(END_MS),
    });
    const last = (await response.text()).split("\n").findLast((line) => line.startsWith("data: "));
    return last === undefined ? null : JSON.parse(last.slice("data: ".length));
  }

  async #ask(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
    const response = await this.#workerd.fetch(path, {
      method,
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
      signal: AbortSignal.timeout(END_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
}
