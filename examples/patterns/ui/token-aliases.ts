interface Token {
  value: unknown;
  type: string | null;
}

interface Problem {
  token: string;
  code: "circular" | "missing" | "not_a_token";
  detail: string;
}

const ALIAS = /^\{([^{}]+)\}$/;

const isGroup = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Every token with its aliases followed. */
export function tokenAliases(input: { tokens: Record<string, unknown> }): { resolved: Record<string, Token>; problems: Problem[] } {
  const raw = new Map<string, Token>();
  const groups = new Set<string>();
  const walk = (node: Record<string, unknown>, path: string[], inherited: string | null): void => {
    const type = typeof node["$type"] === "string" ? node["$type"] : inherited;
    if ("$value" in node) {
      raw.set(path.join("."), { value: node["$value"], type });
      return;
    }
    groups.add(path.join("."));
    for (const [name, child] of Object.entries(node)) {
      if (!name.startsWith("$") && isGroup(child)) walk(child, [...path, name], type);
    }
  };
  walk(input.tokens, [], null);

  const problems: Problem[] = [];
  const done = new Map<string, Token>();
  const follow = (name: string, trail: string[]): Token | undefined => {
    const known = done.get(name);
    if (known) return known;
    if (trail.includes(name)) {
      problems.push({ token: trail[0] ?? name, code: "circular", detail: [...trail.slice(trail.indexOf(name)), name].join(" → ") });
      return undefined;
    }
    const token = raw.get(name);
    if (!token) {
      const code = groups.has(name) ? "not_a_token" : "missing";
      const last = name.split(".").at(-1) ?? name;
      const near = [...raw.keys()].filter((other) => other.endsWith(`.${last}`)).slice(0, 2);
      problems.push({ token: trail[0] ?? name, code, detail: near.length > 0 ? `${name}; did you mean ${near.join(" or ")}?` : name });
      return undefined;
    }
    let type = token.type;
    const through = (value: unknown): unknown => {
      if (typeof value === "string") {
        const target = ALIAS.exec(value)?.[1];
        if (target === undefined) return value;
        const found = follow(target, [...trail, name]);
        if (found && value === token.value) type ??= found.type;
        return found?.value ?? null;
      }
      if (Array.isArray(value)) return value.map(through);
      if (isGroup(value)) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, through(part)]));
      return value;
    };
    const result: Token = { value: through(token.value), type };
    result.type = type;
    done.set(name, result);
    return result;
  };
  for (const name of raw.keys()) follow(name, []);
  return { resolved: Object.fromEntries([...done].sort(([one], [other]) => (one < other ? -1 : 1))), problems };
}
