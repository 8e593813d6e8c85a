type Row = Record<string, string>;

interface Input {
  parameters: Record<string, string[]>;
  exclude?: Row[];
}

/** Rows in which every possible pair of values occurs. */
export function pairwiseCases(input: Input): { rows: Row[]; pairs: number; combinations: number; impossible: string[] } {
  const { parameters, exclude = [] } = input;
  const names = Object.keys(parameters);
  if (names.length < 2) throw new RangeError("pairs need two parameters or more");
  for (const name of names) {
    if (!parameters[name]?.length) throw new RangeError(`${name} has no values`);
  }
  const values = (name: string): string[] => parameters[name] ?? [];
  const key = (one: string, a: string, other: string, b: string): string => JSON.stringify([one, a, other, b]);
  const allowed = (row: Row): boolean => !exclude.some((rule) => Object.entries(rule).every(([name, value]) => row[name] === value));

  /** The first way to fill a row up that breaks no rule, or none. */
  const filled = (row: Row): Row | undefined => {
    if (!allowed(row)) return undefined;
    const open = names.find((name) => row[name] === undefined);
    if (open === undefined) return row;
    for (const value of values(open)) {
      const whole = filled({ ...row, [open]: value });
      if (whole) return whole;
    }
    return undefined;
  };

  const missing = new Map<string, Row>();
  names.forEach((one, at) => {
    for (const other of names.slice(at + 1)) {
      for (const a of values(one)) for (const b of values(other)) missing.set(key(one, a, other, b), { [one]: a, [other]: b });
    }
  });
  const pairs = missing.size;
  const covered = (row: Row): string[] =>
    names.flatMap((one, at) => names.slice(at + 1).map((other) => key(one, row[one] ?? "", other, row[other] ?? ""))).filter((pair) => missing.has(pair));

  const rows: Row[] = [];
  const impossible: string[] = [];
  while (missing.size > 0) {
    const [first, begun] = missing.entries().next().value as [string, Row];
    let row = begun;
    if (!filled(row)) {
      impossible.push(Object.entries(begun).map(([name, value]) => `${name}=${value}`).join(" with "));
      missing.delete(first);
      continue;
    }
    for (const name of names) {
      if (row[name] !== undefined) continue;
      let best: Row | undefined;
      for (const value of values(name)) {
        const next: Row = { ...row, [name]: value };
        if (filled(next) && (!best || covered(next).length > covered(best).length)) best = next;
      }
      row = best ?? row;
    }
    for (const pair of covered(row)) missing.delete(pair);
    rows.push(Object.fromEntries(names.map((name) => [name, row[name] ?? ""])));
  }
  const combinations = names.reduce((product, name) => product * values(name).length, 1);
  return { rows, pairs, combinations, impossible };
}
