import { anthropic } from "./anthropic/provider.ts";
import type { Provider } from "./contract.ts";
import { demo } from "./demo/provider.ts";
import { openai } from "./openai/provider.ts";

/** The providers that ship, by the name before the slash in a model's name. A new one is a folder and a line here. */
export const SHIPPED: readonly Provider[] = [anthropic, openai, demo];
