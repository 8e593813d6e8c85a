interface Input {
  text: string;
  background: string;
  wanted?: number;
}

type Colour = [number, number, number];

function parsed(value: string): { colour: Colour; alpha: number } {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])([0-9a-f])?$/i.exec(value);
  const digits = short ? short.slice(1).map((digit) => (digit ? digit + digit : "")).join("") : value.replace(/^#/, "");
  if (!/^([0-9a-f]{6}|[0-9a-f]{8})$/i.test(digits)) throw new TypeError(`not a hexadecimal colour: ${value}`);
  const channel = (at: number): number => Number.parseInt(digits.slice(at, at + 2), 16);
  return { colour: [channel(0), channel(2), channel(4)], alpha: digits.length === 8 ? channel(6) / 255 : 1 };
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Colour;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const written = (colour: Colour): string => `#${colour.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;

/** Contrast after WCAG 2.2, and the nearest text colour with the wanted one. */
export function contrastCheck(input: Input): Record<string, unknown> {
  const { wanted = 4.5 } = input;
  if (!(wanted >= 1 && wanted <= 21)) throw new RangeError("a contrast lies between 1 and 21");
  const ground = parsed(input.background);
  if (ground.alpha !== 1) throw new TypeError("the background must be opaque");
  const over = parsed(input.text);
  const text = over.colour.map((channel, at) => Math.round(channel * over.alpha + (ground.colour[at] ?? 0) * (1 - over.alpha))) as Colour;
  const found = ratio(text, ground.colour);
  let proposal: string | null = null;
  for (let step = 1; found < wanted && proposal === null && step <= 256; step += 1) {
    const share = step / 256;
    const choices: Colour[] = [0, 255].map((end) => text.map((channel) => Math.round(channel + (end - channel) * share)) as Colour);
    const best = choices.filter((choice) => ratio(choice, ground.colour) >= wanted)[0];
    if (best) proposal = written(best);
  }
  return {
    ratio: Math.floor(found * 100) / 100,
    meets: { aa: found >= 4.5, aaLarge: found >= 3, aaa: found >= 7, aaaLarge: found >= 4.5, controls: found >= 3 },
    wanted,
    proposal,
  };
}
