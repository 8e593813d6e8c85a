declare const gatewright: {
  glob(pattern: string): string[] | Promise<string[]>;
  read(path: string): string | Promise<string>;
};

interface Entry {
  number: number;
  title: string;
  status: string;
  date: string | null;
  supersedes: number[];
  supersededBy: number[];
  file: string;
}

interface Problem {
  file: string;
  code: "duplicate" | "one_sided" | "dangling";
  detail: string;
}

function numbersAfter(text: string, words: RegExp): number[] {
  const found = new Set<number>();
  for (const line of text.split("\n")) {
    const at = words.exec(line);
    if (!at) continue;
    for (const [, digits] of line.slice(at.index + at[0].length).replace(/\d{4}-\d{2}-\d{2}/g, "").matchAll(/(?:ADR[- ]?|#|\b)0*(\d{1,4})\b/gi)) found.add(Number(digits));
  }
  return [...found].sort((a, b) => a - b);
}

function entry(file: string, text: string): Entry | undefined {
  const named = /(?:^|\/)(\d{1,4})[-_][^/]*\.md$/.exec(file);
  const status = /^(?:[-*]\s*)?(?:\*\*)?status(?:\*\*)?\s*:(?:\*\*)?\s*([a-z]+)/im.exec(text) ?? /^#+\s*status\s*\n+\s*(?:[-*]\s*)?([a-z]+)/im.exec(text);
  if (!named?.[1] || !status?.[1]) return undefined;
  const title = /^#\s+(?:ADR[- ]?)?(?:\d+\s*[.:–-]\s*)?(.+)$/im.exec(text)?.[1]?.trim() ?? file;
  return {
    number: Number(named[1]),
    title,
    status: status[1].toLowerCase(),
    date: /\b(\d{4}-\d{2}-\d{2})\b/.exec(text)?.[1] ?? null,
    supersedes: numbersAfter(text, /supersedes:?/i),
    supersededBy: numbersAfter(text, /superseded by:?/i),
    file,
  };
}

/** The decision records below docs/, and what does not agree among them. */
export async function adrIndex(input: { status?: string }): Promise<{ records: Entry[]; problems: Problem[] }> {
  const records: Entry[] = [];
  for (const file of [...(await gatewright.glob("docs/**/*.md"))].sort()) {
    const found = entry(file, (await gatewright.read(file)).replaceAll("\r\n", "\n"));
    if (found) records.push(found);
  }
  const problems: Problem[] = [];
  const byNumber = new Map<number, Entry>();
  for (const record of records) {
    const other = byNumber.get(record.number);
    if (other) problems.push({ file: record.file, code: "duplicate", detail: `number ${record.number} is also ${other.file}` });
    else byNumber.set(record.number, record);
  }
  const pairs: ["supersedes" | "supersededBy", "supersedes" | "supersededBy"][] = [["supersedes", "supersededBy"], ["supersededBy", "supersedes"]];
  for (const record of records) {
    for (const [here, there] of pairs) {
      for (const number of record[here]) {
        const other = byNumber.get(number);
        if (!other) problems.push({ file: record.file, code: "dangling", detail: `there is no record ${number}` });
        else if (!other[there].includes(record.number)) problems.push({ file: record.file, code: "one_sided", detail: `${other.file} does not name ${record.number}` });
      }
    }
  }
  const rank = (record: Entry): number => (record.status === "proposed" ? 0 : 1);
  const shown = records.filter((record) => !input.status || record.status === input.status.toLowerCase());
  return { records: shown.sort((one, other) => rank(one) - rank(other) || one.number - other.number), problems };
}
