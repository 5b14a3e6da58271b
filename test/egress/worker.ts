import { guardedFetch } from "../../src/egress/guarded-fetch.ts";
import { EgressError, type EgressPolicy, egressPolicy, permitted } from "../../src/egress/refusal.ts";

export { SessionObject, TurnRunner } from "../../src/index.ts";

function verdict(url: string, policy: EgressPolicy): string {
  try {
    permitted(url, policy);
    return "permitted";
  } catch (thrown) {
    return thrown instanceof EgressError ? thrown.refusal.reason : String(thrown);
  }
}

/** What became of a request: its answer's status and text, or why it was refused. */
async function outcome(url: string, policy: EgressPolicy): Promise<unknown> {
  try {
    const response = await guardedFetch(policy, { ms: 1_000, bytes: 1_000 })(url, {
      headers: { authorization: "Bearer secret" },
    });
    return { status: response.status, text: await response.text() };
  } catch (thrown) {
    return { refused: thrown instanceof EgressError ? thrown.refusal.reason : String(thrown) };
  }
}

export default {
  async fetch(request: Request, env: Cloudflare.Env): Promise<Response> {
    const { pathname, host } = new URL(request.url);
    if (pathname === "/verdicts") {
      const urls: string[] = await request.json();
      return Response.json(urls.map((url) => verdict(url, { allowLoopback: false, ownHost: null })));
    }
    return Response.json(await outcome(await request.json(), egressPolicy(env, host)));
  },
};
