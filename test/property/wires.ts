import type { Provider } from "../../src/providers/contract.ts";
import { MODELS, type Model } from "./history.ts";
import type { Wire } from "./wire.ts";
import { anthropicWire } from "./wire-anthropic.ts";
import { bridgeWire, chatWire } from "./wire-chat.ts";
import { openaiWire } from "./wire-openai.ts";

/** The APIs that the rings run on. A new provider is a line here, and its models one in `history.ts`. */
export const WIRES = {
  anthropic: anthropicWire,
  openai: openaiWire,
  chat: chatWire,
  bridge: bridgeWire,
} as const satisfies Record<string, Wire>;

export type WireName = keyof typeof WIRES;

export const WIRE_NAMES = Object.keys(WIRES) as WireName[];

/** The API behind a provider of the ring in one process (`ring-openai`); undefined if it has none of that name. */
export function apiNamed(provider: string): WireName | undefined {
  return WIRE_NAMES.find((one) => provider === `ring-${one}`);
}

/** The API that a model of the rings (`openai/gpt-5.4`) is reached by. */
export function wireOf(model: string): Wire {
  const name = model.split("/")[0] ?? "";
  const found = WIRE_NAMES.find((one) => one === name);
  if (found === undefined) throw new Error(`no API is named ${name}`);
  return WIRES[found];
}

/** What our adapter knows of a model of the rings. */
export function factsOf(model: Model) {
  return wireOf(model).provider.facts(model.split("/")[1] ?? "");
}

/** The model that a request names, as histories name it. */
export function modelIn(api: WireName, body: string): Model {
  const { model }: { model: string } = JSON.parse(body);
  const found = MODELS.find((one) => one === `${api}/${model}`);
  if (found === undefined) throw new Error(`${api}/${model} is in no history`);
  return found;
}

/** The provider as if its models took only so many tokens; null is what they really take. */
export function windowed(provider: Provider, window: () => number | null): Provider {
  return {
    ...provider,
    facts(model) {
      const facts = provider.facts(model);
      return { ...facts, window: window() ?? facts.window };
    },
  };
}

/** The provider as another release of ours has it: the same entries give other bytes. */
export function released(provider: Provider, other: () => boolean): Provider {
  return {
    ...provider,
    get wire() {
      return other() ? `${provider.name}/other` : provider.wire;
    },
    // What loads is put together when the body is written, from the bytes of its beginning and end.
    items: (input) =>
      provider.items(input).map((item) => {
        return other() && item.loads === undefined ? { ...item, bytes: item.bytes.replace("{", "{ ") } : item;
      }),
  };
}
