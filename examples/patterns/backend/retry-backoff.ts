export interface Backoff {
  attempts: number;
  baseMs: number;
  capMs: number;
  jitter?: "none" | "full" | "equal";
  draws?: number[];
  retryAfterMs?: number;
}

/** Waits between attempts: one fewer than there are attempts. */
export function delays(input: Backoff): number[] {
  const { attempts, baseMs, capMs, jitter = "full", draws = [], retryAfterMs = 0 } = input;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 50) throw new RangeError("attempts must be a whole number from 1 to 50");
  if (!(baseMs > 0) || !(capMs >= baseMs)) throw new RangeError("baseMs must be above 0 and at most capMs");
  const waits: number[] = [];
  for (let attempt = 0; attempt < attempts - 1; attempt += 1) {
    const bound = Math.min(capMs, baseMs * 2 ** attempt);
    const draw = Math.min(1, Math.max(0, draws[attempt] ?? 0.5));
    const wait = jitter === "none" ? bound : jitter === "full" ? bound * draw : bound / 2 + (bound / 2) * draw;
    waits.push(Math.round(Math.max(wait, attempt === 0 ? retryAfterMs : 0)));
  }
  return waits;
}

/** A plan of retries, and how long it takes at worst when every attempt fails at once. */
export function retryBackoff(input: Backoff): { delays: number[]; totalMs: number; worstMs: number } {
  const planned = delays(input);
  const worst = delays({ ...input, jitter: "none" });
  const sum = (waits: number[]): number => waits.reduce((total, wait) => total + wait, 0);
  return { delays: planned, totalMs: sum(planned), worstMs: sum(worst) };
}
