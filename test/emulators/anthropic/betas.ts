/** The values of the `anthropic-beta` header that the emulator accepts: those of @anthropic-ai/sdk 1.14 and of older clients. */
export const KNOWN_BETAS: readonly string[] = [
  "advanced-tool-use-2025-11-20",
  "advisor-tool-2026-03-01",
  "cache-diagnosis-2026-04-07",
  "code-execution-2025-05-22",
  "code-execution-2025-08-25",
  "compact-2026-01-12",
  "compact-2026-09-04",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "extended-cache-ttl-2025-04-11",
  "fast-mode-2026-02-01",
  "files-api-2025-04-14",
  "fine-grained-tool-streaming-2025-05-14",
  "inline-tools-2026-09-15",
  "interleaved-thinking-2025-05-14",
  "mcp-client-2025-04-04",
  "mcp-client-2025-11-20",
  "mcp-client-2026-09-15",
  "mid-conversation-output-config-2026-07-01",
  "mid-conversation-system-2026-04-07",
  "mid-conversation-system-clear-at-2026-08-21",
  "mid-conversation-tool-changes-2026-07-01",
  "model-context-window-exceeded-2025-08-26",
  "output-128k-2025-02-19",
  "output-300k-2026-03-24",
  "pdfs-2024-09-25",
  "prompt-caching-2024-07-31",
  "server-side-fallback-2026-06-01",
  "server-side-fallback-2026-07-01",
  "skills-2025-10-02",
  "structured-outputs-2025-11-13",
  "task-budgets-2026-03-13",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "thinking-token-count-2026-05-13",
  "token-counting-2024-11-01",
  "token-efficient-tools-2025-02-19",
  "user-profiles-2026-03-24",
  "web-fetch-2025-09-10",
  "web-search-2025-03-05",
];

/** The values of an `anthropic-beta` header, which may name several, separated by commas. */
export function parseBetas(header: string | undefined): string[] {
  return (header ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
}
