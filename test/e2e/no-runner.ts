/** The test worker as one that exports no `TurnRunner`: a turn that died waits for its session's next message. */
export { default, SessionObject } from "./worker.ts";
