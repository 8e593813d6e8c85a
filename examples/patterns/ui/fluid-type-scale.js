const round = (value) => Math.round(value * 10000) / 10000;

function step(index, min, max, root) {
  const small = (min.size * min.ratio ** index) / root;
  const large = (max.size * max.ratio ** index) / root;
  const slope = (large - small) / ((max.width - min.width) / root);
  const intercept = small - slope * (min.width / root);
  const [least, most] = small < large ? [small, large] : [large, small];
  const sign = slope < 0 ? "-" : "+";
  const css = `clamp(${round(least)}rem, ${round(intercept)}rem ${sign} ${round(Math.abs(slope * 100))}vw, ${round(most)}rem)`;
  return { step: index, css, growth: round(most / least) };
}

/** Custom properties of a type scale that grows with the viewport. */
export function fluidTypeScale(input) {
  const { min, max, steps = [-1, 0, 1, 2, 3, 4, 5], root = 16, prefix = "step" } = input;
  if (!(max.width > min.width)) throw new RangeError("max.width must be above min.width");
  const sizes = steps.map((index) => step(index, min, max, root));
  const warnings = sizes.filter((size) => size.growth > 2.5).map((size) => `step ${size.step} grows ${size.growth} times: zoom may not reach 200 %`);
  const css = `:root {\n${sizes.map((size) => `  --${prefix}-${size.step}: ${size.css};`).join("\n")}\n}`;
  return { css, sizes, warnings };
}
