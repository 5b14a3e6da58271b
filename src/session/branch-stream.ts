import type { Branch, BranchAnswer } from "./branch.ts";

/** A text as a stream of its bytes: RPC carries 32 MiB of values, and streams of any size. */
export function streamOf(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}

/** Reads a branch that {@link streamOf} carried. */
export async function readBranchStream(stream: ReadableStream<Uint8Array>): Promise<Branch> {
  const branch: Branch = JSON.parse(await new Response(stream).text());
  return branch;
}

/** Reads an answer that {@link streamOf} carried. */
export function readAnswer(text: string): BranchAnswer {
  const answer: BranchAnswer = JSON.parse(text);
  return answer;
}
