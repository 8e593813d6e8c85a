import semver from "semver";

interface Input {
  packages: Record<string, Record<string, string>>;
  versions?: Record<string, string[]>;
}

interface Finding {
  dependency: string;
  code: "split" | "loose" | "behind";
  packages: string[];
  detail: string;
}

/** Where the ranges of a workspace's packages do not fit together. */
export function semverRangeAudit(input: Input): { findings: Finding[]; best: Record<string, string>; skipped: string[] } {
  const asked = new Map<string, Map<string, string>>();
  const skipped: string[] = [];
  for (const [name, dependencies] of Object.entries(input.packages)) {
    for (const [dependency, range] of Object.entries(dependencies)) {
      if (semver.validRange(range) === null && range !== "latest") {
        skipped.push(`${name}: ${dependency} ${range}`);
        continue;
      }
      const ranges = asked.get(dependency) ?? new Map<string, string>();
      asked.set(dependency, ranges.set(name, range));
    }
  }
  const findings: Finding[] = [];
  const best: Record<string, string> = {};
  for (const [dependency, ranges] of [...asked].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const entries = [...ranges].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [name, range] of entries) {
      const least = range === "latest" ? null : semver.minVersion(range);
      const open = range === "latest" || (least !== null && semver.satisfies(`${least.major + 1000}.0.0`, range));
      if (open) findings.push({ dependency, code: "loose", packages: [name], detail: `${range} takes the next major version` });
    }
    const bounded = entries.filter(([, range]) => range !== "latest");
    bounded.forEach(([one, range], at) => {
      for (const [other, second] of bounded.slice(at + 1)) {
        if (!semver.intersects(range, second)) findings.push({ dependency, code: "split", packages: [one, other], detail: `${range} and ${second} have no version in common` });
      }
    });
    const versions = semver.rsort((input.versions?.[dependency] ?? []).filter((version) => semver.valid(version)));
    const newest = versions.find((version) => semver.prerelease(version) === null);
    if (newest === undefined) continue;
    const behind = bounded.filter(([, range]) => !semver.satisfies(newest, range)).map(([name]) => name);
    if (behind.length > 0) findings.push({ dependency, code: "behind", packages: behind, detail: `${newest} is out of range` });
    const votes = (version: string): number => bounded.filter(([, range]) => semver.satisfies(version, range)).length;
    best[dependency] = versions.reduce((leader, version) => (votes(version) > votes(leader) ? version : leader), newest);
  }
  return { findings, best, skipped };
}
