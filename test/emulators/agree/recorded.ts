import { z } from "zod";

/** One exchange with a real API, as a recordings file holds it, one a line. */
const recorded = z.looseObject({
  id: z.string(),
  provider: z.string(),
  path: z.string(),
  request: z.looseObject({}),
  status: z.int(),
  /** The body of an answer from 400 on. */
  response: z.unknown().optional(),
});

export type Recorded = z.infer<typeof recorded>;

/** The exchanges of a file's text. Throws with the number of a line that is none. */
export function parseRecordings(text: string): Recorded[] {
  const exchanges: Recorded[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = recorded.safeParse(JSON.parse(line));
    if (!parsed.success) throw new Error(`Line ${index + 1} is no exchange: ${z.prettifyError(parsed.error)}`);
    exchanges.push(parsed.data);
  }
  return exchanges;
}
