import type { ServerResponse } from "node:http";
import type { Part, Point } from "./answer.ts";
import type { WireEvent } from "./compile.ts";
import { failureBody } from "./failure.ts";
import type { OpenRecord } from "./record.ts";

/** What an answer does besides its content. */
export type Control = Extract<Part, { kind: "error" | "destroy" | "park" }>;

/** One answer on its way: the response, its record, and what happens on the way. */
export interface Delivery {
  readonly response: ServerResponse;
  readonly record: OpenRecord;
  readonly requestId: string;
  readonly controls: readonly Control[];
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>;
  /** Called when the first byte of the answer goes out. */
  begin(): void;
}

/** Sends events, with everything that is to happen between them. */
export async function sendStream(delivery: Delivery, events: readonly WireEvent[]): Promise<void> {
  const { response, record, requestId } = delivery;
  if (!(await reach(delivery, "headers"))) return;
  record.status = 200;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "request-id": requestId,
  });
  delivery.begin();
  for (const event of events) {
    if (!(await reach(delivery, record.events))) return;
    await write(delivery, spell(event, record.events));
    record.events += 1;
  }
  if (!(await reach(delivery, record.events))) return;
  response.end();
  record.outcome = "answered";
}

/** Sends a whole message. An error that a stream would carry is a failure of the request here. */
export async function sendWhole(delivery: Delivery, message: object): Promise<void> {
  const { response, record, requestId, controls } = delivery;
  for (const control of controls) if (control.kind === "park" && !(await park(delivery, control))) return;
  const [cut] = controls.filter((control) => control.kind !== "park");
  if (cut?.kind === "destroy") {
    record.outcome = "cut";
    response.destroy();
    return;
  }
  record.status = cut === undefined ? 200 : cut.type === "overloaded_error" ? 529 : 500;
  record.outcome = cut === undefined ? "answered" : "failed";
  if (cut === undefined) delivery.begin();
  response.writeHead(record.status, { "content-type": "application/json", "request-id": requestId });
  response.end(cut === undefined ? JSON.stringify(message) : failureBody(cut, requestId));
}

/** Does what is due at a point. `false`: the answer ends here. */
async function reach(delivery: Delivery, point: Point): Promise<boolean> {
  const { response, record, controls, requestId } = delivery;
  for (const control of controls) {
    if (control.at !== point) continue;
    if (control.kind === "park") {
      if (!(await park(delivery, control))) return false;
      continue;
    }
    record.outcome = "cut";
    if (control.kind === "destroy") response.destroy();
    else response.end(`event: error\ndata: ${failureBody(control, requestId)}\n\n`);
    return false;
  }
  if (!response.destroyed) return true;
  record.outcome = "client_gone";
  return false;
}

async function park(delivery: Delivery, control: Extract<Control, { kind: "park" }>): Promise<boolean> {
  await Promise.race([control.parking.wait(delivery.record), delivery.gone]);
  if (!delivery.response.destroyed) return true;
  delivery.record.outcome = "client_gone";
  return false;
}

/** Waits until the bytes have left this process, so that a cut after them does not take them along. */
async function write({ response, gone, controls }: Delivery, text: string): Promise<void> {
  const flushed = new Promise<void>((resolve) => {
    const full = !response.write(text, () => resolve());
    // Without anything to come between the events only back pressure is worth waiting for.
    if (!full && controls.length === 0) resolve();
  });
  await Promise.race([flushed, gone]);
}

/** One record. Like the API's, its data line ends with some spaces. */
function spell(event: WireEvent, position: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}${" ".repeat((position * 7) % 13)}\n\n`;
}
