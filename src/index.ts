export * from "./index.node.ts";
export { SessionObject } from "./session/object.ts";
