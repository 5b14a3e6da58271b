import type { Emulator } from "../../test/emulators/anthropic/index.ts";
import { startWorkerd } from "../../test/workerd.ts";
import { LATE_FROM, TURNS } from "./scenario.ts";

/**
 * Holds the conversation of the scenario with both agents of the bench worker, through the real worker in workerd, in a
 * fresh process for each turn.
 */
export async function holdfastConverses(emulator: Emulator): Promise<void> {
  const workerd = await startWorkerd({
    entry: "bench/cache/worker.ts",
    bindings: {
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: emulator.url,
      HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench",
    },
  });
  try {
    for (const [index, { text }] of TURNS.entries()) {
      const turn = index + 1;
      if (turn > 1) await workerd.fresh(turn === LATE_FROM ? { LATE: "yes" } : {});
      for (const agent of ["plain", "bound"] as const) {
        const response = await workerd.fetch("/v1/chat/completions", {
          method: "POST",
          headers: {
            authorization: "Bearer bench-secret-bench-secret-bench",
            "content-type": "application/json",
            "x-conversation-id": "bench",
          },
          body: JSON.stringify({ model: agent, messages: [{ role: "user", content: text }] }),
        });
        if (!response.ok) throw new Error(`${agent}, turn ${turn}: ${response.status} ${await response.text()}`);
        await response.text();
      }
    }
  } finally {
    await workerd.dispose();
  }
}
