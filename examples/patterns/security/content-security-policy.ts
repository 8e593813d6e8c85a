interface Input {
  nonce?: string;
  scripts?: string[];
  styles?: string[];
  images?: string[];
  connect?: string[];
  fonts?: string[];
  frameAncestors?: string[];
  reportTo?: string;
  reportOnly?: boolean;
}

const KEYWORDS = new Set(["self", "none", "unsafe-inline", "unsafe-eval", "strict-dynamic", "wasm-unsafe-eval"]);

function source(value: string): string {
  if (/[\s;,]/.test(value)) throw new TypeError("a source holds no space, comma or semicolon: it would end the directive");
  return KEYWORDS.has(value) ? `'${value}'` : value;
}

/** The header's name and value, and what weakens it. */
export function contentSecurityPolicy(input: Input): { header: string; value: string; warnings: string[] } {
  const { nonce, scripts = [], frameAncestors = ["none"] } = input;
  const warnings: string[] = [];
  if (nonce !== undefined && !/^[A-Za-z0-9+/_-]{22,}={0,2}$/.test(nonce)) throw new TypeError("a nonce is base64 of at least 16 random bytes");
  if (nonce !== undefined && scripts.includes("unsafe-inline")) throw new TypeError("unsafe-inline is ignored beside a nonce: choose one");
  for (const risky of ["unsafe-inline", "unsafe-eval", "data:", "*", "https:"]) {
    if (scripts.includes(risky)) warnings.push(`script-src ${risky} lets injected scripts run`);
  }
  if (input.styles?.includes("unsafe-inline")) warnings.push("style-src unsafe-inline lets injected CSS read attributes");
  if (nonce === undefined && scripts.length > 0) warnings.push("hosts instead of a nonce: any script on those hosts is trusted");
  if (!input.reportTo) warnings.push("without report-to nobody learns what was blocked");

  const directives: [string, string[]][] = [
    ["default-src", ["'self'"]],
    ["script-src", nonce === undefined ? ["'self'", ...scripts.map(source)] : [`'nonce-${nonce}'`, "'strict-dynamic'", ...scripts.map(source)]],
    ["style-src", ["'self'", ...(input.styles ?? []).map(source)]],
    ["img-src", ["'self'", ...(input.images ?? ["data:"]).map(source)]],
    ["connect-src", ["'self'", ...(input.connect ?? []).map(source)]],
    ["font-src", ["'self'", ...(input.fonts ?? []).map(source)]],
    ["object-src", ["'none'"]],
    ["base-uri", ["'none'"]],
    ["frame-ancestors", frameAncestors.map(source)],
    ["form-action", ["'self'"]],
  ];
  if (input.reportTo) directives.push(["report-to", [input.reportTo]]);
  const value = directives.map(([name, sources]) => `${name} ${[...new Set(sources)].join(" ")}`).join("; ");
  return { header: `Content-Security-Policy${input.reportOnly ? "-Report-Only" : ""}`, value, warnings };
}
