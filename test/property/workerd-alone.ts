/** The ring's worker without `TurnRunner`: a turn whose isolate died waits for the next message. */
export { default, SessionObject } from "./workerd-worker.ts";
