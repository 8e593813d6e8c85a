interface Input {
  transactionsPerSecond: number;
  heldMilliseconds: number;
  cores: number;
  instances: number;
  maxConnections?: number;
  reserved?: number;
  slack?: number;
}

interface Sizing {
  inUse: number;
  supply: number;
  perInstance: number;
  total: number;
  utilisation: number;
  verdict: "fits" | "tight" | "overloaded";
  advice: string;
}

/** Size of each instance's pool, from Little's law and what the server can do at once. */
export function poolSizing(input: Input): Sizing {
  const { transactionsPerSecond, heldMilliseconds, cores, instances, maxConnections = 100, reserved = 10, slack = 1.5 } = input;
  for (const [name, value] of Object.entries({ transactionsPerSecond, heldMilliseconds, cores, instances })) {
    if (!(value > 0)) throw new RangeError(`${name} must be above 0`);
  }
  const inUse = (transactionsPerSecond * heldMilliseconds) / 1000;
  const supply = Math.max(1, Math.min(cores * 2, maxConnections - reserved));
  const wanted = Math.min(supply, Math.max(instances, inUse * slack));
  const perInstance = Math.max(1, Math.ceil(wanted / instances - 1e-9));
  const total = perInstance * instances;
  const utilisation = Math.round((inUse / Math.min(total, supply)) * 100) / 100;
  const verdict = inUse > supply ? "overloaded" : utilisation > 0.8 ? "tight" : "fits";
  const advice = {
    fits: "wait at most a second for a connection, and watch that time",
    tight: "shorten what holds a connection before you add instances",
    overloaded: "no pool size helps: shorten transactions, cache reads, or queue in front",
  }[verdict];
  return { inUse: Math.round(inUse * 10) / 10, supply, perInstance, total, utilisation, verdict, advice };
}
