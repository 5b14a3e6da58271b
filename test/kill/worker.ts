import { env } from "cloudflare:workers";
import { z } from "zod";
import { apiKeys, SessionObject as Base, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";
import type { AppendRequest, BeginRequest, ResumeRequest } from "../../src/session/contract.ts";

export { TurnRunner } from "../../src/index.ts";

const { HOOK } = env as unknown as { readonly HOOK: string };

/** The session's object. After each of its writes it asks the test whether to go on. */
export class SessionObject extends Base {
  #writes = 0;

  override async begin(request: BeginRequest) {
    return this.#written(await super.begin(request));
  }

  override async append(request: AppendRequest) {
    return this.#written(await super.append(request));
  }

  override async resume(request: ResumeRequest) {
    return this.#written(await super.resume(request));
  }

  async #written<T>(answer: T): Promise<T> {
    this.#writes += 1;
    const [, , conversation] = JSON.parse(this.ctx.id.name ?? "[]");
    await (await fetch(`${HOOK}/write/${conversation}/${this.#writes}`)).text();
    return answer;
  }
}

/** A tool with an effect that the test counts. */
const effect = (name: string, idempotent: boolean) =>
  defineTool({
    name,
    description: `Does something outside: ${name}.`,
    risk: "write",
    idempotent,
    input: z.object({}),
    async execute(_, { callId, session, signal }) {
      const done = await fetch(`${HOOK}/tool/${session.id}/${callId}`, { method: "POST", signal });
      return done.text();
    },
  });

const killed = defineAgent({
  name: "killed",
  description: "Works in four steps while its process is killed.",
  model: "anthropic/claude-sonnet-5",
  instructions: ({ session }) => `Session ${session.id}.`,
  tools: [effect("look", true), effect("send", false), lazy(effect("weather", true))],
});

export default holdfast({ agents: [killed], auth: [apiKeys()] });
