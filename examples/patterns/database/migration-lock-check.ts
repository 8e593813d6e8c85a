interface Finding {
  statement: number;
  rule: string;
  text: string;
  instead: string;
}

const RULES: { rule: string; form: RegExp; unless?: RegExp; instead: string }[] = [
  { rule: "index-blocks-writes", form: /^create (unique )?index /, unless: /^create (unique )?index concurrently /, instead: "CREATE INDEX CONCURRENTLY, outside a transaction" },
  { rule: "type-rewrites-table", form: /^alter table .* alter (column )?\S+ (set data )?type /, instead: "a new column, filled in batches" },
  { rule: "not-null-scans-table", form: /^alter table .* set not null/, instead: "a CHECK that is NOT VALID, validated, then SET NOT NULL" },
  { rule: "foreign-key-locks-both", form: /^alter table .* (foreign key|references) /, unless: /not valid/, instead: "ADD CONSTRAINT … NOT VALID, then VALIDATE CONSTRAINT" },
  { rule: "rename-breaks-readers", form: /^alter table .* rename (column )?(?!constraint)\S+ to /, instead: "expand and contract" },
  { rule: "truncate-locks-all", form: /^truncate /, instead: "DELETE in batches, or a partition that is dropped" },
];

/** Cut a script at its semicolons; strings, dollar quotes and comments are not cut. */
function statements(script: string): string[] {
  const found: string[] = [];
  let current = "";
  const pieces = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$;\-/]+|./g;
  for (const [piece] of script.matchAll(pieces)) {
    if (piece === ";") {
      found.push(current);
      current = "";
    } else if (!piece.startsWith("--") && !piece.startsWith("/*")) {
      current += piece;
    }
  }
  found.push(current);
  return found.map((text) => text.replace(/\s+/g, " ").trim()).filter((text) => text !== "");
}

/** What in a PostgreSQL migration is known to lock a table that is in use. */
export function migrationLockCheck(input: { script: string }): { statements: number; findings: Finding[] } {
  const all = statements(input.script);
  const fresh = new Set<string>();
  const findings: Finding[] = [];
  let bounded = false;
  all.forEach((text, index) => {
    const plain = text.toLowerCase();
    if (/^set (local )?lock_timeout/.test(plain)) bounded = true;
    const created = /^create (?:unlogged )?table (?:if not exists )?([\w."]+)/.exec(plain);
    if (created?.[1]) fresh.add(created[1]);
    const target = /^(?:alter table (?:if exists )?(?:only )?|create (?:unique )?index .*? on (?:only )?|truncate (?:table )?)([\w."]+)/.exec(plain);
    if (target?.[1] && fresh.has(target[1])) return;
    for (const { rule, form, unless, instead } of RULES) {
      if (form.test(plain) && !unless?.test(plain)) findings.push({ statement: index + 1, rule, text: text.slice(0, 120), instead });
    }
    if (!bounded && /^(alter table|drop )/.test(plain)) {
      findings.push({ statement: index + 1, rule: "no-lock-timeout", text: text.slice(0, 120), instead: "SET lock_timeout = '2s' before it" });
    }
  });
  return { statements: all.length, findings };
}
