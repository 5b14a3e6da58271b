import type { Allowed } from "./module-state.ts";

/** Module state that is right where it is. Each entry says why that is so; one that is not needed fails the check. */
export const ALLOWED_STATE: readonly Allowed[] = [
  {
    path: "src/turn/hosts.ts",
    name: "hosts",
    reason: "filled when the worker starts and never after; the platform makes a TurnRunner without asking the worker",
  },
];
