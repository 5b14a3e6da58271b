/**
 * `fetch` for an SDK that waits for `retry-after` before it tries again: where that is more than so many seconds, it is
 * told not to. Without a number it may wait as long as it likes.
 */
export function patientFetch(seconds: number | undefined): typeof fetch {
  if (seconds === undefined) return (input, init) => fetch(input, init);
  return async function patient(input, init) {
    const response = await fetch(input, init);
    if (!(Number(response.headers.get("retry-after")) > seconds)) return response;
    const headers = new Headers(response.headers);
    headers.set("x-should-retry", "false");
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  };
}
