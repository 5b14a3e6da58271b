import type { Agent } from "../define/types.ts";
import type { ModelFacts, Provider } from "../providers/contract.ts";
import { HoldfastError } from "../values/errors.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";
import type { Runtime } from "./runtime.ts";

/** An agent's model, found: its provider, its name there, and what it can do. */
export interface Model {
  readonly full: string;
  readonly name: string;
  readonly provider: Provider;
  readonly facts: ModelFacts;
}

/**
 * The models that an agent runs on with these bindings: its own, then those to fall back on, each once, without those
 * whose provider does not exist or has no key. Throws `model_not_supported` when none is left, with what is wrong with the
 * first: that agent's calls fail readably, and no other agent is kept from working.
 */
export function resolveModels(runtime: Runtime, agent: Agent, env: Cloudflare.Env): [Model, ...Model[]] {
  const found = [agent.model, ...agent.fallback].map((name) => resolve(runtime, agent, name, env));
  const usable = found.filter((model): model is Model => !(model instanceof HoldfastError));
  const [first, ...rest] = new Map(usable.map((model) => [model.full, model])).values();
  if (first !== undefined) return [first, ...rest];
  throw found[0];
}

function resolve(runtime: Runtime, agent: Agent, model: Agent["model"], env: Cloudflare.Env): Model | HoldfastError {
  const full = typeof model === "string" ? model : model({ env });
  const slash = full.indexOf("/");
  const provider = slash > 0 ? runtime.provider(full.slice(0, slash)) : undefined;
  const unsupported = (why: string) =>
    new HoldfastError({
      reason: "model_not_supported",
      message: `Agent ${agent.name} runs on the model ${full}, which can't be used here: ${why}`,
      detail: `${agent.name} on ${full}: ${why}`,
    });
  if (provider === undefined) return unsupported("there is no provider of that name.");
  const missing = provider.missing(env);
  if (missing !== null) return unsupported(missing);
  const name = full.slice(slash + 1);
  return { full, name, provider, facts: provider.facts(name) };
}

/** The model that writes an agent's summaries: the one it runs on, unless it names another that can be used here. */
export function summaryModel(runtime: Runtime, agent: Agent, env: Cloudflare.Env, own: Model): Model {
  const { model } = agent.compaction;
  const other = model === null ? own : resolve(runtime, agent, model, env);
  return other instanceof HoldfastError ? own : other;
}

/** Providers compact nothing shorter than this by themselves. */
const LEAST_COMPACTED = 50_000;

/** From how many tokens on the provider is to compact the context, where the agent leaves that to it and it sees to it. */
function compactAt({ compaction }: Agent, { facts }: Model): Pick<EpochSettings, "compactAt"> {
  if (!compaction.automatic || compaction.by !== "provider" || facts.compacts !== "at_length") return {};
  return { compactAt: Math.max(LEAST_COMPACTED, Math.floor(facts.window * compaction.threshold)) };
}

/** What a caller asked for in one request, as far as the surface understood it. */
export interface Asked {
  readonly call: Partial<CallSettings>;
  readonly epoch: Partial<EpochSettings>;
}

/** The settings of a turn: the agent's, then the caller's as far as the model takes them. */
export function turnSettings(agent: Agent, model: Model, asked: Asked): { call: CallSettings; epoch: EpochSettings } {
  const { maxOutputTokens, ...own } = agent.settings;
  const epoch = { ...own, ...compactAt(agent, model), ...asked.epoch };
  const { stop } = model.facts.refuses.has("stop") ? {} : asked.call;
  return {
    epoch,
    call: {
      maxOutputTokens: Math.min(asked.call.maxOutputTokens ?? maxOutputTokens, model.facts.maxOutput),
      ...sampling(model.facts, epoch, asked),
      ...(stop === undefined ? {} : { stop }),
    },
  };
}

/** Names (as on the OpenAI surface) of the settings a caller asked for and the model does not take as they are. */
export function ignoredSettings(runtime: Runtime, agent: Agent, env: Cloudflare.Env, asked: Asked): string[] {
  const [{ facts }] = resolveModels(runtime, agent, env);
  const taken = sampling(facts, { ...agent.settings, ...asked.epoch }, asked);
  const ignored: string[] = [];
  if (taken.temperature !== asked.call.temperature) ignored.push("temperature");
  if (taken.topP !== asked.call.topP) ignored.push("top_p");
  if (asked.call.stop !== undefined && facts.refuses.has("stop")) ignored.push("stop");
  if (asked.epoch.effort !== undefined && facts.refuses.has("effort")) ignored.push("reasoning_effort");
  return ignored;
}

/** What a model takes of the sampling that a caller asked for. Nothing while it thinks. */
function sampling(
  { refuses, maxTemperature = Number.POSITIVE_INFINITY, oneSampling = false }: ModelFacts,
  { thinking = false }: EpochSettings,
  { call: { temperature, topP } }: Asked,
): Pick<CallSettings, "temperature" | "topP"> {
  if (thinking !== false) return {};
  const hot = temperature !== undefined && !refuses.has("temperature");
  const wide = topP !== undefined && !refuses.has("topP") && !(hot && oneSampling);
  return { ...(hot ? { temperature: Math.min(temperature, maxTemperature) } : {}), ...(wide ? { topP } : {}) };
}
