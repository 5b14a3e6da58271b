import * as z from "zod";
import { AGENT_MODE } from "../catalog/catalog.ts";
import type { Agent } from "../define/types.ts";
import { badRequest, parse } from "./bad-request.ts";

/** Characters of a title that somebody typed. */
const MOST_TITLE = 200;

const patchBody = z
  .strictObject({ mode: z.string().optional(), title: z.string().trim().min(1).max(MOST_TITLE).optional() })
  .transform(({ mode, title }) => ({
    ...(mode === undefined ? {} : { mode }),
    ...(title === undefined ? {} : { title }),
  }));

/** What a request changes of a session. Throws a `bad_request` for a mode that the agent lacks, or where nothing is changed. */
export function readPatch(body: unknown, { modes }: Pick<Agent, "modes">): { mode?: string; title?: string } {
  const change = parse(patchBody, body);
  if (Object.keys(change).length === 0) throw badRequest("", "a mode or a title is needed");
  const { mode } = change;
  if (mode !== undefined && mode !== AGENT_MODE && !Object.hasOwn(modes, mode)) {
    const known = [AGENT_MODE, ...Object.keys(modes)].join(", ");
    throw badRequest("mode", `this agent has no mode ${JSON.stringify(mode.slice(0, 64))}. There are: ${known}.`);
  }
  return change;
}
