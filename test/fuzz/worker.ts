import { SessionObject as Base } from "../../src/index.ts";
import { fuzzed } from "./fuzzed.ts";

export { TurnRunner } from "../../src/index.ts";

export class SessionObject extends Base {}

export default fuzzed();
