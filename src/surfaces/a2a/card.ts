import type { Agent } from "../../define/types.ts";
import { IMAGES } from "../../http/media.ts";

/** What a message may hold, and what answers come as. */
export const INPUT_MODES: readonly string[] = ["text/plain", "application/json", ...IMAGES, "application/pdf"];
export const OUTPUT_MODES: readonly string[] = ["text/plain", "application/json"];

/** Where an agent is asked. */
export interface CardPlace {
  /** The agent's root, without a slash at its end: `https://example.com/agents/assistant`. */
  readonly root: string;
  /** A key is needed. */
  readonly keyed: boolean;
}

/** Something an agent can do, as both protocol versions write it. */
interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

const BEARER = "bearer";
const HTTP_BEARER = { scheme: "Bearer", description: "A key of this server (HOLDFAST_API_KEYS)." } as const;

/** An agent's card in 1.0, from its definition. The `extended` one has a skill for each of its tools, too. */
export function agentCard(agent: Agent, { root, keyed }: CardPlace, extended = false) {
  const rpc = `${root}/a2a`;
  return {
    name: agent.name,
    description: agent.description,
    version: `${agent.revision}.0.0`,
    supportedInterfaces: [
      { url: rpc, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: root, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: rpc, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      { url: root, protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: [ownSkill(agent), ...(extended ? agent.tools.map(toolSkill) : [])],
    ...(keyed
      ? {
          securitySchemes: { [BEARER]: { httpAuthSecurityScheme: HTTP_BEARER } },
          securityRequirements: [{ schemes: { [BEARER]: { list: [] } } }],
        }
      : {}),
  };
}

/**
 * The same card for readers of either version. Those of 1.0 go by `supportedInterfaces`, those of 0.3 by `url`,
 * `preferredTransport` and `additionalInterfaces`; a security scheme has the members of both.
 */
export function hybridCard(agent: Agent, place: CardPlace, extended = false) {
  const rpc = `${place.root}/a2a`;
  return {
    ...agentCard(agent, place, extended),
    protocolVersion: "0.3.0",
    url: rpc,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: rpc, transport: "JSONRPC" },
      { url: place.root, transport: "HTTP+JSON" },
    ],
    supportsAuthenticatedExtendedCard: true,
    ...(place.keyed
      ? {
          securitySchemes: { [BEARER]: { type: "http", ...HTTP_BEARER, httpAuthSecurityScheme: HTTP_BEARER } },
          security: [{ [BEARER]: [] }],
        }
      : {}),
  };
}

function ownSkill({ name, description }: Agent): Skill {
  return { id: name, name, description, tags: ["agent"] };
}

function toolSkill({ spec, risk }: Agent["tools"][number]): Skill {
  return { id: spec.name, name: spec.name, description: spec.description, tags: ["tool", risk] };
}
