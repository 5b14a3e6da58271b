/** What to try once the worker answers. `taken` are the names of the settings that came from the shell. */
export function nextSteps(origin: string, agent: string, taken: readonly string[]): string {
  const body = JSON.stringify({
    model: agent,
    stream: true,
    messages: [{ role: "user", content: "What is 20 miles in kilometres?" }],
  });
  return `
Holdfast answers on ${origin}${taken.length === 0 ? "" : `, with ${taken.join(", ")} from your shell`}.

  Talk to it:
    curl -N ${origin}/v1/chat/completions -H 'content-type: application/json' \\
      -H 'x-conversation-id: first' -d '${body}'

  Or point any OpenAI client at it:
    baseURL  ${origin}/v1
    apiKey   any string

  Its agents are in src/worker.ts. Ctrl-C stops it; what was said stays.
`;
}
