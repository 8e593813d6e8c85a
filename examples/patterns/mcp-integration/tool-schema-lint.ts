interface Tool {
  name: string;
  description?: string;
  inputSchema: Schema;
}

interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  [key: string]: unknown;
}

interface Finding {
  tool: string;
  pointer: string;
  code: string;
  detail: string;
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

function lint(schema: Schema, pointer: string, depth: number, report: (pointer: string, code: string, detail: string) => void): void {
  if (depth > 20) return report(pointer, "too_deep", "more than 20 levels");
  if (Array.isArray(schema.type) || schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) report(pointer, "union", "several clients flatten or refuse unions");
  if (pointer !== "" && !schema.description) report(pointer, "no_description", "say what it means, and its unit");
  const fixed = schema["enum"] !== undefined || schema["const"] !== undefined;
  if (schema.type === "string" && !fixed && schema["maxLength"] === undefined && schema["format"] === undefined) report(pointer, "unbounded", "give maxLength");
  if (schema.type === "array" && schema["maxItems"] === undefined) report(pointer, "unbounded", "give maxItems");
  if ((schema.type === "number" || schema.type === "integer") && !fixed && (schema["minimum"] === undefined || schema["maximum"] === undefined)) {
    report(pointer, "unbounded", "give minimum and maximum");
  }
  if (schema.type === "object" || schema.properties !== undefined) {
    if (schema.additionalProperties === undefined) report(pointer, "open_object", "say additionalProperties: false");
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(schema.properties ?? {}, name)) report(`${pointer}/required`, "ghost_required", `${name} is required and is no property`);
    }
    for (const [name, part] of Object.entries(schema.properties ?? {})) lint(part, `${pointer}/properties/${escaped(name)}`, depth + 1, report);
  }
  if (schema.items) lint(schema.items, `${pointer}/items`, depth + 1, report);
}

/** What makes tools hard to call. */
export function toolSchemaLint(input: { tools: Tool[]; longest?: number }): { findings: Finding[]; counts: Record<string, number> } {
  const { tools, longest = 1000 } = input;
  const findings: Finding[] = [];
  const seen = new Map<string, string>();
  for (const tool of tools) {
    const report = (pointer: string, code: string, detail: string): void => {
      findings.push({ tool: tool.name, pointer, code, detail });
    };
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool.name)) report("", "name", "letters, digits, _ . - and at most 128");
    const twin = seen.get(tool.name.toLowerCase());
    if (twin !== undefined) report("", "name", `cannot be told from ${twin}`);
    seen.set(tool.name.toLowerCase(), tool.name);
    if (!tool.description) report("", "no_description", "the tool does not say what it does");
    else if (tool.description.length > longest) report("", "long_description", `${tool.description.length} characters, at most ${longest}`);
    lint(tool.inputSchema, "", 0, report);
  }
  const counts: Record<string, number> = {};
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return { findings, counts };
}
