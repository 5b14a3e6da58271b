import { createAnthropic } from "@ai-sdk/anthropic";
import { AIChatAgent } from "@cloudflare/ai-chat";
import { routeAgentRequest } from "agents";
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from "ai";

interface Env extends Cloudflare.Env {
  readonly ANTHROPIC_BASE_URL: string;
  /** JSON of the definitions that Holdfast's worker declares from the start, so that all send requests of one size. */
  readonly TOOLS: string;
  readonly SYSTEM?: string;
  /** `yes`: the provider's option that asks for caching. */
  readonly CACHE?: string;
}

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
}

/** Cloudflare's chat agent as its documentation shows it, on the AI SDK's Anthropic provider. */
export class SessionObject extends AIChatAgent<Env> {
  override async onChatMessage() {
    const anthropic = createAnthropic({ baseURL: `${this.env.ANTHROPIC_BASE_URL}/v1`, apiKey: "key" });
    const result = streamText({
      model: anthropic("claude-sonnet-5"),
      system: this.env.SYSTEM ?? "You are a helpful assistant.",
      messages: await convertToModelMessages(this.messages),
      tools: toolsOf(JSON.parse(this.env.TOOLS)),
      stopWhen: stepCountIs(8),
      ...(this.env.CACHE === "yes"
        ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" as const } } } }
        : {}),
    });
    return result.toUIMessageStreamResponse();
  }
}

function toolsOf(definitions: readonly Definition[]) {
  return Object.fromEntries(
    definitions.map(({ name, description, input_schema }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(input_schema),
        execute: async () => `${name} was called.`,
      }),
    ]),
  );
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return (await routeAgentRequest(request, env)) ?? new Response("not found", { status: 404 });
  },
};
