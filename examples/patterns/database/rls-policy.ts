interface Input {
  table: string;
  schema?: string;
  ownerColumn: string;
  current: string;
  commands?: Command[];
  role?: string;
}

type Command = "select" | "insert" | "update" | "delete";

const ALL: Command[] = ["select", "insert", "update", "delete"];

function quoted(name: string): string {
  if (name.length === 0 || name.includes("\u0000")) throw new TypeError("an identifier must not be empty or hold NUL");
  return `"${name.replaceAll('"', '""')}"`;
}

/** Statements that put row-level security on one table. */
export function rlsPolicy(input: Input): { statements: string[]; warnings: string[] } {
  const table = (input.schema ? `${quoted(input.schema)}.` : "") + quoted(input.table);
  const rule = `${quoted(input.ownerColumn)} = ${input.current}`;
  const to = input.role ? ` TO ${quoted(input.role)}` : "";
  const commands = input.commands ?? ALL;
  const statements = [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;`,
  ];
  for (const command of commands) {
    const clauses: string[] = [];
    if (command !== "insert") clauses.push(`USING (${rule})`);
    if (command === "insert" || command === "update") clauses.push(`WITH CHECK (${rule})`);
    const name = quoted(`${input.table}_${command}`);
    statements.push(`CREATE POLICY ${name} ON ${table} FOR ${command.toUpperCase()}${to} ${clauses.join(" ")};`);
  }
  const warnings: string[] = [];
  const missing = ALL.filter((command) => !commands.includes(command));
  if (missing.length > 0) warnings.push(`no policy for ${missing.join(", ")}: nobody can run it on this table`);
  if (!input.role) warnings.push("without a role the policies hold for PUBLIC");
  return { statements, warnings };
}
