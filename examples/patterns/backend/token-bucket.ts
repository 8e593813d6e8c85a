interface Request {
  atMs: number;
  cost?: number;
}

interface Input {
  capacity: number;
  refillPerSecond: number;
  requests: Request[];
}

interface Decision {
  atMs: number;
  allowed: boolean;
  left: number;
  retryAfterMs: number | null;
}

/** Replay requests against a bucket that is full at the beginning. */
export function tokenBucket(input: Input): { decisions: Decision[]; allowed: number; refused: number } {
  const { capacity, refillPerSecond, requests } = input;
  if (!(capacity > 0) || !(refillPerSecond > 0)) throw new RangeError("capacity and refillPerSecond must be above 0");
  let tokens = capacity;
  let last = requests[0]?.atMs ?? 0;
  const decisions = requests.map(({ atMs, cost = 1 }): Decision => {
    if (!(cost > 0)) throw new RangeError("a request costs more than 0");
    const now = Math.max(atMs, last);
    tokens = Math.min(capacity, tokens + ((now - last) / 1000) * refillPerSecond);
    last = now;
    const allowed = tokens >= cost;
    if (allowed) tokens -= cost;
    const never = cost > capacity;
    const retryAfterMs = allowed || never ? null : Math.ceil(((cost - tokens) / refillPerSecond) * 1000);
    return { atMs, allowed, left: Math.floor(tokens * 100) / 100, retryAfterMs };
  });
  const allowed = decisions.filter((decision) => decision.allowed).length;
  return { decisions, allowed, refused: decisions.length - allowed };
}
