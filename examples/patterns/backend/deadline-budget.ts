import { delays, type Backoff } from "./retry-backoff.ts";

interface Input extends Backoff {
  budgetMs: number;
  attemptMs: number;
  marginMs?: number;
}

interface Slot {
  attempt: number;
  startsMs: number;
  endsMs: number;
}

/** How many attempts of a plan of retries end before the deadline. */
export function deadlineBudget(input: Input): { attempts: number; schedule: Slot[]; leftMs: number; dropped: number } {
  const { budgetMs, attemptMs, marginMs = 0 } = input;
  if (!(attemptMs > 0)) throw new RangeError("attemptMs must be above 0");
  const usable = budgetMs - marginMs;
  const waits = delays(input);
  const schedule: Slot[] = [];
  let clock = 0;
  for (let attempt = 0; attempt < input.attempts; attempt += 1) {
    const starts = attempt === 0 ? 0 : clock + (waits[attempt - 1] ?? 0);
    if (starts + attemptMs > usable) break;
    clock = starts + attemptMs;
    schedule.push({ attempt: attempt + 1, startsMs: starts, endsMs: clock });
  }
  return { attempts: schedule.length, schedule, leftMs: Math.max(0, usable - clock), dropped: input.attempts - schedule.length };
}
