import type { ServerResponse } from "node:http";
import type { Point, Steering } from "./answer.ts";
import type { Exchange, Open } from "./exchange.ts";

/** An error record that ends a stream after `at` events; where nothing is streamed, the failure it is instead. */
export interface ErrorRecord {
  readonly kind: "error";
  readonly at: number;
  /** As it stands in the stream. */
  readonly record: string;
  readonly status: number;
  readonly body: string;
}

/** What an answer does besides its content. */
export type Control = Steering | ErrorRecord;

/** One answer on its way: the response, its record, and what happens on the way. */
export interface Delivery {
  readonly response: ServerResponse;
  readonly record: Open<Exchange>;
  /** Sent with the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  readonly controls: readonly Control[];
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>;
  /** Called when the first byte of the answer goes out. */
  begin(): void;
}

/** Resolves when the connection of a response is closed. */
export function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("close", () => resolve()));
}

/** Sends the records of a stream, with everything that is to happen between them. */
export async function sendStream(delivery: Delivery, records: readonly string[]): Promise<void> {
  const { response, record, headers } = delivery;
  if (!(await reach(delivery, "headers"))) return;
  record.status = 200;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...headers,
  });
  delivery.begin();
  for (const text of records) {
    if (!(await reach(delivery, record.events))) return;
    await write(delivery, text);
    record.events += 1;
  }
  if (!(await reach(delivery, record.events))) return;
  response.end();
  record.outcome = "answered";
}

/** Sends a whole answer. An error that a stream would carry is a failure of the request here. */
export async function sendWhole(delivery: Delivery, message: object): Promise<void> {
  const { response, record, headers, controls } = delivery;
  for (const control of controls) if (control.kind === "park" && !(await park(delivery, control))) return;
  const [end] = controls.filter((control) => control.kind !== "park");
  if (end?.kind === "destroy") {
    record.outcome = "cut";
    response.destroy();
    return;
  }
  record.status = end === undefined ? 200 : end.status;
  record.outcome = end === undefined ? "answered" : "failed";
  if (end === undefined) delivery.begin();
  response.writeHead(record.status, { "content-type": "application/json", ...headers });
  response.end(end === undefined ? JSON.stringify(message) : end.body);
}

/** Does what is due at a point. `false`: the answer ends here. */
async function reach(delivery: Delivery, point: Point): Promise<boolean> {
  const { response, record, controls } = delivery;
  for (const control of controls) {
    if (control.at !== point) continue;
    if (control.kind === "park") {
      if (!(await park(delivery, control))) return false;
      continue;
    }
    record.outcome = "cut";
    if (control.kind === "destroy") response.destroy();
    else response.end(control.record);
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
