import { cpus, loadavg, platform, release, totalmem } from "node:os";

/** What the figures were measured on, in one line. */
export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model.trim() ?? "unknown CPU"}, ${memory} GB, ${platform()} ${release()}, Node ${process.versions.node}`;
}

/** Processes that wanted a core over the last minute: above the number of cores, timings are those of a busy machine. */
export function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
