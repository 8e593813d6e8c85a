interface Rule {
  attribute: string;
  oneOf: string[];
  on: boolean;
}

interface Flag {
  key: string;
  percent: number;
  killed?: boolean;
  allow?: string[];
  deny?: string[];
  rules?: Rule[];
}

interface Input {
  flag: Flag;
  user: { id: string; attributes?: Record<string, string> };
}

/** Murmur3's finaliser over FNV-1a: small, and even in its low digits. */
function bucket(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) % 10_000;
}

/** Whether a user has a feature, and why. */
export function execute(input: Input): { on: boolean; reason: string; bucket: number } {
  const { flag, user } = input;
  if (!(flag.percent >= 0 && flag.percent <= 100)) throw new RangeError("percent lies between 0 and 100");
  const place = bucket(`${flag.key}:${user.id}`);
  const answer = (on: boolean, reason: string) => ({ on, reason, bucket: place });
  if (flag.killed) return answer(false, "killed");
  if (flag.deny?.includes(user.id)) return answer(false, "denied");
  if (flag.allow?.includes(user.id)) return answer(true, "allowed");
  for (const rule of flag.rules ?? []) {
    const value = user.attributes?.[rule.attribute];
    if (value !== undefined && rule.oneOf.includes(value)) return answer(rule.on, `rule:${rule.attribute}`);
  }
  return answer(place < flag.percent * 100, "share");
}
