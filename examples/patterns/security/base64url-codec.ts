const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function encodeBytes(bytes: number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = bytes.slice(at, at + 3);
    const bits = ((group[0] ?? 0) << 16) | ((group[1] ?? 0) << 8) | (group[2] ?? 0);
    for (let place = 0; place <= group.length; place += 1) text += ALPHABET[(bits >> (18 - 6 * place)) & 63];
  }
  return text;
}

export function decodeBytes(text: string): number[] {
  if (text.length % 4 === 1) throw new TypeError("a base64url text never has a last group of one character");
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 4) {
    const group = text.slice(at, at + 4);
    let bits = 0;
    for (let place = 0; place < 4; place += 1) {
      const letter = group[place];
      const value = letter === undefined ? 0 : ALPHABET.indexOf(letter);
      if (value < 0) throw new TypeError(`character ${at + place + 1} is not of base64url`);
      bits = (bits << 6) | value;
    }
    const whole = [(bits >> 16) & 255, (bits >> 8) & 255, bits & 255];
    if (whole.slice(group.length - 1).some((byte) => byte !== 0)) throw new TypeError("the left-over bits are not zero");
    bytes.push(...whole.slice(0, group.length - 1));
  }
  return bytes;
}

export function encodeUtf8(text: string): string {
  const bytes: number[] = [];
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) throw new TypeError("half of a surrogate pair is no text");
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return encodeBytes(bytes);
}

export function decodeUtf8(text: string): string {
  const bytes = decodeBytes(text);
  let decoded = "";
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at] ?? 0;
    const more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
    if (more < 0) throw new TypeError(`byte ${at + 1} begins no UTF-8`);
    let code = more === 0 ? first : first & (0x3f >> more);
    for (let step = 1; step <= more; step += 1) {
      const next = bytes[at + step] ?? 0;
      if ((next & 0xc0) !== 0x80) throw new TypeError(`byte ${at + step + 1} does not go on in UTF-8`);
      code = (code << 6) | (next & 63);
    }
    const least = [0, 0x80, 0x800, 0x10000][more] ?? 0;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new TypeError(`byte ${at + 1} begins no UTF-8`);
    decoded += String.fromCodePoint(code);
    at += more + 1;
  }
  return decoded;
}

/** Encode a text, or decode one. */
export function base64urlCodec(input: { action: "encode" | "decode"; text: string }): { text: string } {
  return { text: input.action === "encode" ? encodeUtf8(input.text) : decodeUtf8(input.text) };
}
