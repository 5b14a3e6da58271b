export * from "./index.node.ts";
export { SessionObject } from "./session/object.ts";
export { TurnRunner } from "./turn/runner.ts";
