import { z } from "zod";
import { apiKeys, SessionObject as Base, defineAgent, defineTool, holdfast, lazy } from "../../src/index.ts";
import { d1IsDown } from "./d1-outages.ts";

export { TurnRunner } from "../../src/index.ts";

/** D1 that fails every now and then. */
function flaky(db: D1Database): D1Database {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (d1IsDown(Date.now()) && (name === "batch" || name === "withSession")) throw new Error("D1 is down");
        return Reflect.apply(value, target, args);
      };
    },
  });
}

export class SessionObject extends Base {
  constructor(ctx: DurableObjectState, bindings: Cloudflare.Env) {
    super(ctx, { ...bindings, DB: flaky(bindings.DB) });
  }
}

const echo = (name: string, idempotent: boolean) =>
  defineTool({
    name,
    description: `Repeats a text: ${name}.`,
    risk: "read",
    idempotent,
    input: z.object({ text: z.string() }),
    execute: ({ text }) => `${name} says ${text}`,
  });

const soaked = defineAgent({
  name: "soaked",
  description: "Talks for a long time while everything around it fails.",
  model: "anthropic/claude-sonnet-5",
  instructions: ({ session }) => `Session ${session.id}.`,
  tools: [echo("note", true), echo("once", false), lazy(echo("weather", true), echo("tides", true))],
});

export default holdfast({ agents: [soaked], auth: [apiKeys()] });
