/**
 * What carries a request, of Anthropic's SDK: its client without the resources. The whole client names each of them, so
 * a bundler keeps all their code, which would be three quarters of the worker.
 */
export { BaseAnthropic } from "@anthropic-ai/sdk/client";
export { APIError } from "@anthropic-ai/sdk/core/error";
