interface Input {
  action: "make" | "read";
  values?: (string | number)[];
  cursor?: string;
  filters?: Record<string, unknown>;
}

type Answer = { ok: true; cursor: string } | { ok: true; values: (string | number)[] } | { ok: false; code: string };

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VERSION = 1;

/** JSON with sorted keys and nothing but ASCII. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([key, part]) => `${canonical(key)}:${canonical(part)}`).join(",")}}`;
  }
  return (JSON.stringify(value) ?? "null").replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

function encoded(ascii: string): string {
  let text = "";
  for (let at = 0; at < ascii.length; at += 3) {
    const count = Math.min(3, ascii.length - at);
    const bits = [0, 1, 2].reduce((sum, place) => (sum << 8) | (place < count ? ascii.charCodeAt(at + place) : 0), 0);
    for (let place = 0; place <= count; place += 1) text += ALPHABET[(bits >> (18 - 6 * place)) & 63];
  }
  return text;
}

function decoded(text: string): string {
  let bits = 0;
  let held = 0;
  let ascii = "";
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) throw new TypeError("not base64url");
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      ascii += String.fromCharCode((bits >> held) & 255);
    }
  }
  return ascii;
}

/** Make an opaque cursor, or read one that must belong to the same filters. */
export function cursorPagination(input: Input): Answer {
  const filters = canonical(input.filters ?? {});
  if (input.action === "make") {
    const values = input.values ?? [];
    return { ok: true, cursor: encoded(canonical({ v: VERSION, s: values, c: checksum(filters + canonical(values)) })) };
  }
  let content: { v?: unknown; s?: unknown; c?: unknown };
  try {
    content = JSON.parse(decoded(input.cursor ?? ""));
  } catch {
    return { ok: false, code: "cursor_malformed" };
  }
  if (content === null || typeof content !== "object" || !Array.isArray(content.s)) return { ok: false, code: "cursor_malformed" };
  if (content.v !== VERSION) return { ok: false, code: "cursor_outdated" };
  if (content.c !== checksum(filters + canonical(content.s))) return { ok: false, code: "cursor_mismatch" };
  return { ok: true, values: content.s };
}
