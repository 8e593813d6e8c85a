interface Column {
  name: string;
  descending?: boolean;
}

interface Input {
  columns: Column[];
  size: number;
  backward?: boolean;
  firstParameter?: number;
}

interface Clauses {
  where: string;
  orderBy: string;
  limit: number;
  parameters: string[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** WHERE, ORDER BY and LIMIT of the page after the row whose values are the parameters. */
export function keysetPagination(input: Input): Clauses {
  const { columns, size, backward = false, firstParameter = 1 } = input;
  if (columns.length === 0) throw new RangeError("name at least one column, the last one unique");
  if (!Number.isInteger(size) || size < 1) throw new RangeError("size must be a whole number from 1");
  const falling = columns.map((column) => (column.descending ?? false) !== backward);
  const place = (index: number): string => `$${firstParameter + index}`;
  const same = falling.every((value) => value === falling[0]);
  const where = same
    ? `(${columns.map((column) => quoted(column.name)).join(", ")}) ${falling[0] ? "<" : ">"} (${columns.map((_, index) => place(index)).join(", ")})`
    : columns
        .map((column, index) => {
          const equal = columns.slice(0, index).map((before, at) => `${quoted(before.name)} = ${place(at)}`);
          return `(${[...equal, `${quoted(column.name)} ${falling[index] ? "<" : ">"} ${place(index)}`].join(" AND ")})`;
        })
        .join(" OR ");
  return {
    where,
    orderBy: columns.map((column, index) => `${quoted(column.name)} ${falling[index] ? "DESC" : "ASC"}`).join(", "),
    limit: size + 1,
    parameters: columns.map((column) => column.name),
  };
}
