interface Input {
  report: string;
  changed?: Record<string, number[]>;
}

interface Share {
  hit: number;
  of: number;
}

interface File {
  path: string;
  lines: Share;
  branches: Share;
  functions: Share;
  uncovered: string[];
  changedUncovered?: number[];
}

function ranges(numbers: number[]): string[] {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}

const share = (hits: Map<unknown, number>): Share => ({ hit: [...hits.values()].filter((count) => count > 0).length, of: hits.size });

/** Sums and uncovered ranges of an lcov report. */
export function lcovSummary(input: Input): { files: File[]; percent: number | null; ignored: number } {
  type Counts = Map<string | number, number>;
  const files = new Map<string, { lines: Counts; branches: Counts; functions: Counts }>();
  let current: { lines: Counts; branches: Counts; functions: Counts } | undefined;
  let ignored = 0;
  const add = (counts: Counts, key: string | number, hits: number): void => {
    counts.set(key, (counts.get(key) ?? 0) + hits);
  };
  for (const line of input.report.split(/\r?\n/)) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const kind = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? "" : line.slice(colon + 1);
    const fields = rest.split(",");
    if (kind === "SF") {
      current = files.get(rest) ?? { lines: new Map(), branches: new Map(), functions: new Map() };
      files.set(rest, current);
    } else if (kind === "end_of_record") {
      current = undefined;
    } else if (kind === "DA" && current) {
      add(current.lines, Number(fields[0]), Number(fields[1]) || 0);
    } else if (kind === "BRDA" && current) {
      add(current.branches, fields.slice(0, 3).join(","), fields[3] === "-" ? 0 : Number(fields[3]) || 0);
    } else if (kind === "FNDA" && current) {
      add(current.functions, fields.slice(1).join(","), Number(fields[0]) || 0);
    } else if (!/^(TN|FN|FNF|FNH|LF|LH|BRF|BRH|VER|FNL|FNA)$/.test(kind)) {
      ignored += 1;
    }
  }
  const summaries = [...files].sort(([one], [other]) => (one < other ? -1 : 1)).map(([path, { lines, branches, functions }]): File => {
    const missed = [...lines].filter(([, hits]) => hits === 0).map(([line]) => Number(line)).sort((a, b) => a - b);
    const changed = input.changed?.[path];
    const summary: File = { path, lines: share(lines), branches: share(branches), functions: share(functions), uncovered: ranges(missed) };
    if (changed) summary.changedUncovered = missed.filter((line) => changed.includes(line));
    return summary;
  });
  const hit = summaries.reduce((sum, file) => sum + file.lines.hit, 0);
  const of = summaries.reduce((sum, file) => sum + file.lines.of, 0);
  return { files: summaries, percent: of === 0 ? null : Math.round((hit / of) * 1000) / 10, ignored };
}
