/** What carries a request, of OpenAI's SDK. Loaded when first used: it is large, and all of it is one piece. */
export { OpenAI } from "openai/client";
export { APIError } from "openai/core/error";
