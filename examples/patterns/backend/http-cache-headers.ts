interface Input {
  audience: "everyone" | "person" | "secret";
  hashedName?: boolean;
  status?: number;
  freshSeconds?: number;
  staleSeconds?: number;
  variesOn?: string[];
  setsCookie?: boolean;
}

interface Answer {
  headers: Record<string, string>;
  reasons: string[];
  warnings: string[];
}

const YEAR = 31_536_000;

/** Cache-Control and Vary of one response, and why. */
export function httpCacheHeaders(input: Input): Answer {
  const { audience, hashedName = false, status = 200, freshSeconds = 0, staleSeconds = 0, variesOn = [], setsCookie = false } = input;
  const warnings: string[] = [];
  const reasons: string[] = [];
  let control: string;
  if (audience === "secret") {
    control = "no-store";
    reasons.push("a secret is kept nowhere");
  } else if (status >= 400) {
    const gone = status === 404 || status === 410;
    control = gone && audience === "everyone" ? "public, max-age=10" : "no-store";
    reasons.push(gone ? "what is missing may be missing for ten seconds" : "an error must not outlive its cause");
  } else if (audience === "person" || setsCookie) {
    control = "private, no-cache";
    reasons.push(setsCookie && audience === "everyone" ? "it sets a cookie, so no shared cache may keep it" : "shared caches must not keep it; the browser asks each time");
  } else if (hashedName) {
    control = `public, max-age=${YEAR}, immutable`;
    reasons.push("its content never changes under this name");
  } else {
    const parts = ["public", "max-age=0"];
    if (freshSeconds > 0) parts.push(`s-maxage=${Math.floor(freshSeconds)}`);
    if (staleSeconds > 0) parts.push(`stale-while-revalidate=${Math.floor(staleSeconds)}`);
    if (freshSeconds === 0) parts.push("must-revalidate");
    control = parts.join(", ");
    reasons.push("browsers ask, a shared cache answers for a while");
  }
  for (const name of variesOn) {
    if (/^(user-agent|cookie)$/i.test(name)) warnings.push(`Vary: ${name} gives nearly every visitor a copy of their own`);
  }
  if (hashedName && audience !== "everyone") warnings.push("a hashed name that is not public: the hash is no permission");
  const named = variesOn.map((name) => name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()));
  const headers: Record<string, string> = { "Cache-Control": control };
  if (named.length > 0) headers["Vary"] = [...new Set(named)].sort().join(", ");
  return { headers, reasons, warnings };
}
