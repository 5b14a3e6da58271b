/**
 * A response body for server-sent events, written by `write` at its own pace: what it sends while nobody reads is kept,
 * and dropped once the reader has gone, so a reader can neither hold the writer back nor make it fail. `done` resolves
 * when `write` is through, whether or not there still is a reader; it never rejects. `left` is aborted when the reader
 * goes.
 */
export function eventStream(
  write: (send: (frame: string) => void) => Promise<void>,
  left?: AbortController,
): {
  readonly body: ReadableStream<Uint8Array>;
  readonly done: Promise<void>;
} {
  const encoder = new TextEncoder();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let open = true;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const whileOpen = (act: () => void) => {
        if (!open) return;
        try {
          act();
        } catch {
          // The reader left in this very moment; nothing is owed to it.
          open = false;
        }
      };
      const end = () => {
        whileOpen(() => controller.close());
        resolve();
      };
      write((frame) => whileOpen(() => controller.enqueue(encoder.encode(frame)))).then(end, end);
    },
    cancel() {
      open = false;
      left?.abort();
    },
  });
  return { body, done };
}

/** One frame without a name: clients of Chat Completions break on any other. */
export function dataFrame(data: string): string {
  return `data: ${data}\n\n`;
}

/** A comment, which every reader skips. Proxies cut streams that are silent for long. */
export const KEEPALIVE = ": keepalive\n\n";

/**
 * A stream that is silent for this long gets a comment. Cloudflare cuts silent streams after 100 s and common proxies
 * after 30 s, but that is not why it is so short: where the client's connection ends in workerd itself, only writing to
 * it shows that the client has left, and a client that leaves wants its turn stopped now.
 */
export const KEEPALIVE_MS = 1_000;
