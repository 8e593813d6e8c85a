type Item = Record<string, unknown>;

interface Input {
  items: Item[];
  budgetTokens: number;
  maxText?: number;
  optional?: string[];
}

interface Answer {
  items: Item[];
  shown: number;
  total: number;
  next: number | null;
  droppedFields: string[];
  shortened: number;
  tokens: number;
}

const tokens = (value: unknown): number => Math.ceil((JSON.stringify(value).length / 4) * 1.1);

/** Items cut to a budget by their structure, never within one. */
export function toolResultBudget(input: Input): Answer {
  const { items, budgetTokens, maxText = 500, optional = [] } = input;
  if (!(budgetTokens > 0) || !(maxText > 0)) throw new RangeError("budgetTokens and maxText must be above 0");
  let shortened = 0;
  const cut = (value: unknown): unknown => {
    if (typeof value === "string") {
      const letters = [...value];
      if (letters.length <= maxText) return value;
      shortened += 1;
      return `${letters.slice(0, maxText).join("")}… (${letters.length - maxText} more)`;
    }
    if (Array.isArray(value)) return value.map(cut);
    if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cut(part)]));
    return value;
  };
  let current = tokens(items) > budgetTokens ? (items.map(cut) as Item[]) : items;
  const droppedFields: string[] = [];
  for (const field of [...optional].reverse()) {
    if (tokens(current) <= budgetTokens) break;
    current = current.map((item) => Object.fromEntries(Object.entries(item).filter(([key]) => key !== field)));
    droppedFields.push(field);
  }
  const kept: Item[] = [];
  let used = 0;
  for (const item of current) {
    const cost = tokens(item);
    if (kept.length > 0 && used + cost > budgetTokens) break;
    kept.push(item);
    used += cost;
  }
  return { items: kept, shown: kept.length, total: items.length, next: kept.length < items.length ? kept.length : null, droppedFields, shortened, tokens: used };
}
