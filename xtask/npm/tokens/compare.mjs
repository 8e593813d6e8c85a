// node compare.mjs SETS GATEWRIGHT [--set NAME]... [--context MODIFIER=CONTEXT]... [--details FILE]
//
// Compares every CSS custom property that gatewright writes for real token sets with what Style Dictionary and Terrazzo
// write, and says for every difference why there is one. SETS is a folder with resolver documents (NAME.resolver.json)
// and their files in NAME/, such as node_modules/dtcg-examples. Markdown goes to standard output; --details writes one
// line per difference. --merge DIR only writes each set as one file, for benches. A difference that fits no class, or one that is a defect of gatewright, makes the exit code 1.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Logger, build, defineConfig, parse } from "@terrazzo/parser";
import terrazzoCss from "@terrazzo/plugin-css";
import StyleDictionary from "style-dictionary";

// ---------------------------------------------------------------------------------------------------------- classes

// `same`: a browser computes the same value. `file`: the file is outside the format and is read in two ways.
// `peer`: the peer's output is no valid CSS, loses something or says something else than the file. `ours`: our defect.
const CLASSES = {
  formatting: ["same", "the same components with other white space"],
  quotes: ["same", "the same string in other quotes, or a family name with and without quotes"],
  "hex-vs-function": ["same", "exactly the same sRGB colour in another notation"],
  rounding: ["same", "sRGB colours less than half of 1/255 apart whose nearest bytes are equal; alpha is equal to five decimals"],
  name: ["same", "the same token under another naming rule (`2xLarge`, `$root`)"],
  "reference-kept": ["same", "`var()` here and a value or another `var()` there; followed to the end they are the same"],
  "transition-order": ["same", "the delay stands before or after the timing function; CSS takes the first time as duration"],
  "composite-shorthand": ["same", "we write the parts of a typography token beside its `font` shorthand, the peer only the shorthand"],
  "zero-unit": ["file", "a zero without unit in the file: `0px` here, `0` there; the same length, but `0` is not one inside `calc()`"],
  "family-list-in-string": ["file", "a list of families in one string: by the letter of the format one name, as which the peer quotes it, and no font has it; we read the list (and warn)"],
  "unit-dp": ["file", "the unit `dp`: we read px (and warn), the peer passes on `dp`, which CSS does not have"],
  "extra-member": ["file", "a member that the format's typography does not have: we leave it out (and warn), the peer writes a property"],
  "peer-quotes-keyword": ["peer", "the peer quotes a word (`BlinkMacSystemFont`) that is a keyword only without quotes; the other families are the same"],
  "peer-object": ["peer", "the peer writes `[object Object]` where the file has an object of the format"],
  "peer-undefined": ["peer", "the peer writes `undefinedundefined` where the file has a length of an older draft"],
  "peer-escaped-quotes": ["peer", "the peer escapes the quotes around a list in one string, so that they become parts of names"],
  "peer-loses-part": ["peer", "letter spacing is not in `font`, the peer's only property for the token, and is lost"],
  "ours-wrong": ["ours", "a defect of gatewright"],
  unexplained: ["ours", "to be looked into"],
};

// ------------------------------------------------------------------------------------------------------------- sets

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Calls `visit(token, path, parent, key)` for every token below `node`. */
function eachToken(node, visit, path = [], parent, key) {
  if (!isObject(node)) return;
  if ("$value" in node) return void visit(node, path, parent, key);
  for (const name of Object.keys(node)) {
    if (!name.startsWith("$") || name === "$root") eachToken(node[name], visit, [...path, name], node, name);
  }
}

/** The contexts to build: the document's defaults, else each modifier's first, as Terrazzo does; `chosen` over both. */
function contextsOf(document, chosen) {
  const contexts = {};
  for (const [name, modifier] of Object.entries(document.modifiers ?? {})) {
    contexts[name] = chosen[name] ?? modifier.default ?? Object.keys(modifier.contexts)[0];
    if (!(contexts[name] in modifier.contexts)) throw new Error(`${name} has no context ${contexts[name]}`);
  }
  return contexts;
}

/** The files of those contexts, in the order in which they are merged. */
function filesOf(document, contexts) {
  return document.resolutionOrder.flatMap(({ $ref }) => {
    const [, kind, name] = $ref.split("/");
    const sources = kind === "sets" ? document.sets[name].sources : document.modifiers[name].contexts[contexts[name]];
    return sources.map((source) => source.$ref);
  });
}

/** The tokens of the files, by id: a later token replaces an earlier one. */
function sourceTokens(folder, files) {
  const tokens = new Map();
  for (const file of files) eachToken(readJson(join(folder, file)), (token, path) => tokens.set(path.join("."), token));
  return tokens;
}

/** How all three programs name a property, near enough to find names that collide. */
const kebab = (id) => id.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();

// Two of the sets violate the format and are refused. To compare their tokens all the same, all three programs get a
// copy with the fewest changes that make it one. Each returns whether it changed `token`.
const REPAIRS = {
  "a member of a token that has no `$` removed": (token) => {
    const stray = Object.keys(token).filter((name) => !name.startsWith("$"));
    for (const name of stray) delete token[name];
    return stray.length > 0;
  },
  "a token of a type of the authors' own removed": (token, path, parent, key) =>
    Boolean(token.$type?.startsWith("custom-")) && delete parent[key],
  "a deprecated token whose replacement has the same name in CSS removed": (token, path, parent, key) => {
    const replacement = /^\{(.+)\}$/.exec(token.$deprecated)?.[1];
    return replacement !== undefined && kebab(replacement) === kebab(path.join(".")) && delete parent[key];
  },
  "`delay` of 0 ms added to a transition": (token) => {
    if (token.$type !== "transition" || !isObject(token.$value) || "delay" in token.$value) return false;
    token.$value.delay = { value: 0, unit: "ms" };
    return true;
  },
  "`$type: color` added to a colour without a type": (token) => {
    if (token.$type !== undefined || !isObject(token.$value) || !("colorSpace" in token.$value)) return false;
    token.$type = "color";
    return true;
  },
};

function repair(folder, name) {
  const done = new Map();
  const count = (what) => done.set(what, (done.get(what) ?? 0) + 1);
  for (const file of readdirSync(join(folder, name), { recursive: true }).filter((f) => f.endsWith(".tokens.json"))) {
    const path = join(folder, name, file);
    const tree = readJson(path);
    eachToken(tree, (...token) => {
      for (const [what, change] of Object.entries(REPAIRS)) if (change(...token)) count(what);
    });
    writeFileSync(path, JSON.stringify(tree, null, 2));
  }
  const documentPath = join(folder, `${name}.resolver.json`);
  const document = readJson(documentPath);
  const ordered = new Set(document.resolutionOrder.map(({ $ref }) => $ref));
  for (const set of Object.keys(document.sets ?? {})) {
    if (ordered.has(`#/sets/${set}`)) continue;
    document.resolutionOrder.unshift({ $ref: `#/sets/${set}` });
    count("a set that `resolutionOrder` leaves out put at its front");
  }
  writeFileSync(documentPath, JSON.stringify(document, null, 2));
  return done;
}

// --------------------------------------------------------------------------------------------------------- programs

const firstLine = (error) =>
  String(error.message ?? error)
    // Some programs colour what they say when CI is set.
    .replace(/\u001b\[[0-9;]*m/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && !/Errors:$|^Use |\|/.test(line))
    .slice(0, 2)
    .join(" · ");

/** Builds with gatewright; the JSON output says which property belongs to which token. */
function gatewright(folder, name, contexts, binary) {
  const pairs = Object.entries(contexts).map(([modifier, context]) => `${JSON.stringify(modifier)} = ${JSON.stringify(context)}\n`);
  writeFileSync(join(folder, "gatewright.toml"), `[tokens]\njson = true\n\n[tokens.contexts]\n${pairs.join("")}`);
  const env = { ...process.env, XDG_STATE_HOME: join(folder, "../state"), XDG_CONFIG_HOME: join(folder, "../config") };
  const args = ["--root", ".", "call", "tokens_build", "--source", `${name}.resolver.json`];
  args.push("--platforms", "css", "--platforms", "js", "--apply", "--output", "json");
  let answer;
  try {
    answer = execFileSync(binary, args, { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    // Refusals are an answer, too, with exit code 1.
    if (!error.stdout) throw error;
    answer = error.stdout;
  }
  const { success, artifacts, error } = JSON.parse(answer);
  if (!success) throw new Error(error.message);
  const read = (end) => readFileSync(join(folder, artifacts.find(({ path }) => path.endsWith(end)).path), "utf8");
  return { css: read(".css"), tokens: JSON.parse(read(".json")) };
}

async function styleDictionary(folder, files) {
  const dictionary = new StyleDictionary({
    source: files.map((file) => join(folder, file)),
    log: { verbosity: "silent", warnings: "disabled" },
    platforms: {
      css: {
        transformGroup: "css",
        files: [{ destination: "tokens.css", format: "css/variables", options: { outputReferences: true } }],
      },
    },
  });
  await dictionary.hasInitialized;
  const [{ output }] = await dictionary.formatPlatform("css");
  return output;
}

/** Terrazzo builds the default contexts; others go in as the document's defaults. Lint rules are off: they only judge. */
async function terrazzo(folder, name, contexts) {
  const logger = new Logger({ level: "silent" });
  const off = ["consistent-naming", "valid-color", "valid-dimension", "valid-typography", "valid-transition", "valid-shadow", "valid-font-family"];
  const filename = pathToFileURL(join(folder, `${name}.resolver.json`));
  const document = readJson(filename);
  for (const [modifier, context] of Object.entries(contexts)) document.modifiers[modifier].default = context;
  const config = defineConfig(
    {
      tokens: [filename.pathname],
      outDir: "out/",
      lint: { rules: Object.fromEntries(off.map((rule) => [`core/${rule}`, "off"])) },
      plugins: [terrazzoCss({ filename: "tokens.css" })],
    },
    { cwd: pathToFileURL(`${folder}/`), logger },
  );
  const parsed = await parse([{ filename, src: JSON.stringify(document) }], { config, logger });
  const built = await build(parsed.tokens, { resolver: parsed.resolver, sources: parsed.sources, config, logger });
  return String(built.outputFiles[0].contents);
}

// -------------------------------------------------------------------------------------------------------------- CSS

/** The custom properties of a stylesheet's `:root`, and what else it declares or declares twice. */
function customProperties(css) {
  const properties = new Map();
  const strange = [];
  const text = css.replace(/\/\*[^]*?\*\//g, "");
  for (const [, prelude, body] of text.matchAll(/([^{}]*)\{([^{}]*)\}/g)) {
    // A `;` inside a string or parentheses does not end a declaration.
    for (const [declaration] of body.matchAll(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\([^()]*\)|\\.|[^;])+/g)) {
      const [, property, value] = /^\s*--([^\s:]+)\s*:([^]*)$/.exec(declaration) ?? [];
      if (property === undefined && declaration.trim() === "") continue;
      if (property === undefined || prelude.trim() !== ":root") strange.push(`${prelude.trim()} { ${declaration.trim()} }`);
      else if (properties.has(property)) strange.push(`--${property} twice`);
      else properties.set(property, value.trim());
    }
  }
  return { properties, strange };
}

const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy;
const UNIT = /%|[a-z]+/iy;
const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;
const IDENT = /(?:--|-)?(?:[a-z_\u0080-\uffff]|\\[^0-9a-f\n])(?:[\w\u0080-\uffff-]|\\[^0-9a-f\n])*/iy;

/** A value's components: numbers, strings, words, colours' hashes, functions with theirs, and the signs between them. */
function components(text) {
  let at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const unescaped = (escaped) => escaped.replace(/\\(.)/g, "$1");
  const list = (end) => {
    const out = [];
    for (;;) {
      take(/\s*/y);
      if (at >= text.length) {
        if (end) throw new Error(`no ${end}`);
        return out;
      }
      let found;
      if (end && text[at] === end) {
        at += 1;
        return out;
      } else if ((found = take(STRING))) out.push({ kind: "string", value: unescaped(found.slice(1, -1)) });
      else if ((found = take(/#[0-9a-f]+/iy))) out.push({ kind: "hash", value: found.slice(1).toLowerCase() });
      else if ((found = take(NUMBER))) out.push({ kind: "number", value: Number(found), unit: take(UNIT) ?? "" });
      else if ((found = take(IDENT))) {
        if (text[at] !== "(") out.push({ kind: "word", value: unescaped(found) });
        else {
          at += 1;
          out.push({ kind: "function", name: found.toLowerCase(), args: list(")") });
        }
      } else if ((found = take(/[,/]/y))) out.push({ kind: "sign", value: found });
      else throw new Error(`${JSON.stringify(text[at])} where a component is due`);
    }
  };
  return list();
}

/** Red, green and blue from a hue in degrees and saturation and lightness from 0 to 1 (CSS Color 4, section 7.1). */
function rgbOfHsl(hue, saturation, lightness) {
  const channel = (n) => {
    const k = (n + (((hue % 360) + 360) % 360) / 30) % 12;
    return lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}

/** A component as sRGB and alpha from 0 to 1; `undefined` where it is no sRGB colour of the notations seen. */
function color(component) {
  if (component.kind === "hash") {
    const digits = component.value.length < 5 ? component.value.replace(/./g, "$&$&") : component.value;
    const bytes = digits.match(/../g).map((byte) => parseInt(byte, 16) / 255);
    return bytes.length === 3 ? [...bytes, 1] : bytes;
  }
  if (component.kind !== "function" || !/^(rgb|hsl)a?$/.test(component.name)) return undefined;
  const parts = component.args.filter(({ kind }) => kind === "number");
  if (parts.length < 3 || component.args.some(({ kind }) => kind !== "number" && kind !== "sign")) return undefined;
  const share = ({ value, unit }, whole) => (unit === "%" ? value / 100 : value / whole);
  const alpha = parts[3] ? share(parts[3], 1) : 1;
  const [a, b, c] = parts;
  if (component.name.startsWith("rgb")) return [share(a, 255), share(b, 255), share(c, 255), alpha];
  return [...rgbOfHsl(a.value, share(b, 100), share(c, 100)), alpha];
}

/** Which class two colours' difference has; `undefined` where a browser would show two colours. */
function colorClass(ours, theirs) {
  const distances = ours.map((part, i) => Math.abs(part - theirs[i]));
  if (Math.max(...distances) < 1e-9) return "hex-vs-function";
  // Browsers keep red, green and blue of these notations as bytes, but not alpha.
  const byte = (part) => Math.round(Math.min(1, Math.max(0, part)) * 255);
  const near = (part, i) => distances[i] <= 0.5 / 255 && byte(part) === byte(theirs[i]);
  return ours.slice(0, 3).every(near) && distances[3] <= 1e-5 ? "rounding" : undefined;
}

// ------------------------------------------------------------------------------------------------------- comparison

const bare = (name) => name.replaceAll("$", "").replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();

// Words that mean a family chosen by the system, and only without quotes.
const SYSTEM_FAMILIES = new Set(
  ["serif", "sans-serif", "monospace", "cursive", "fantasy", "system-ui", "ui-serif", "ui-sans-serif", "ui-monospace"].concat(
    ["ui-rounded", "math", "emoji", "fangsong", "-apple-system", "BlinkMacSystemFont"],
  ),
);

/** One program's properties, and how to follow their references. */
class Sheet {
  constructor(css) {
    Object.assign(this, customProperties(css));
    this.byBareName = new Map();
    for (const property of this.properties.keys()) {
      this.byBareName.set(bare(property), [...(this.byBareName.get(bare(property)) ?? []), property]);
    }
  }

  /** The components with every `var()` replaced by what it refers to. */
  expand(list, depth = 0) {
    if (depth > 100) throw new Error("a circle of references");
    return list.flatMap((part) => {
      if (part.kind !== "function") return [part];
      if (part.name !== "var") return [{ ...part, args: this.expand(part.args, depth + 1) }];
      const target = this.properties.get(part.args[0].value.slice(2));
      if (target === undefined) throw new Error(`var(${part.args[0].value}) refers to nothing`);
      return this.expand(components(target), depth + 1);
    });
  }
}

/** Strings and words as family names: all of them in a list of families, those behind the size in a `font` shorthand. */
function withFamilies(list, type) {
  const start = type === "typography" ? list.findLastIndex(({ kind, value }) => kind === "number" || value === "/") + 1 : 0;
  const out = list.slice(0, start);
  for (const part of list.slice(start)) {
    const before = out.at(-1);
    if (part.kind === "string") out.push({ kind: "family", name: part.value, quoted: true });
    else if (part.kind !== "word") out.push(part);
    else if (before?.kind === "family" && !before.quoted) before.name += ` ${part.value}`;
    else out.push({ kind: "family", name: part.value, quoted: false });
  }
  return out;
}

const namesIn = (text) => text.split(",").map((name) => name.trim().replace(/^(['"])(.*)\1$/, "$2"));

/** Compares two values of one property. */
class Comparison {
  constructor(pair, sameProperty, strings) {
    Object.assign(this, pair, { sameProperty, strings, classes: new Set() });
  }

  /** The classes of the difference; none where the values are different ones. */
  run() {
    if (/\[object \w+\]/.test(this.theirs)) return this.isObject() ? ["peer-object"] : undefined;
    if (/undefined/.test(this.theirs)) return this.isOlderLength() ? ["peer-undefined"] : undefined;
    const [ours, theirs] = [components(this.ours), components(this.theirs)];
    return this.attempt(ours, theirs, []) ?? this.attempt(this.ourSheet.expand(ours), this.theirSheet.expand(theirs), ["reference-kept"]);
  }

  attempt(ours, theirs, classes) {
    this.classes = new Set(classes);
    if (!this.value(ours, theirs)) return undefined;
    return this.classes.size ? [...this.classes] : ["formatting"];
  }

  note(name) {
    this.classes.add(name);
    return true;
  }

  value(ours, theirs) {
    if (this.type === "fontFamily" || this.type === "typography") {
      const [our, their] = [withFamilies(ours, this.type), withFamilies(theirs, this.type)];
      [ours, theirs] = [this.unlist(our, their), this.relist(their)];
    }
    if (this.list(ours, theirs)) return true;
    if (this.type !== "transition") return false;
    const times = (list) => list.filter(({ kind }) => kind === "number");
    const others = (list) => list.filter(({ kind }) => kind !== "number");
    return this.list([...times(ours), ...others(ours)], [...times(theirs), ...others(theirs)]) && this.note("transition-order");
  }

  list(ours, theirs) {
    return ours.length === theirs.length && ours.every((part, i) => this.component(part, theirs[i]));
  }

  component(ours, theirs) {
    const colors = [color(ours), color(theirs)];
    if (colors[0] && colors[1]) {
      const found = colorClass(...colors);
      if (found && !sameComponent(ours, theirs)) this.note(found);
      return Boolean(found);
    }
    if (ours.kind !== theirs.kind) return false;
    switch (ours.kind) {
      case "number":
        return this.number(ours, theirs);
      case "family":
        return this.family(ours, theirs);
      case "function":
        if (ours.name !== theirs.name) return false;
        if (ours.name === "var") return this.variable(ours.args[0].value, theirs.args[0].value);
        return this.list(ours.args, theirs.args);
      default:
        return ours.value === theirs.value;
    }
  }

  number(ours, theirs) {
    if (ours.value !== theirs.value) return false;
    if (ours.unit === theirs.unit) return true;
    if (ours.value === 0 && ours.unit === "px" && theirs.unit === "" && this.source?.$value?.unit === "") return this.note("zero-unit");
    return ours.unit === "px" && theirs.unit === "dp" && this.source?.$value?.unit === "dp" && this.note("unit-dp");
  }

  variable(ours, theirs) {
    if (ours === theirs) return true;
    return this.sameProperty(ours.slice(2), theirs.slice(2)) && this.note("name");
  }

  family(ours, theirs) {
    if (ours.name !== theirs.name) return false;
    if (ours.quoted === theirs.quoted) return true;
    if (!SYSTEM_FAMILIES.has(ours.name)) return this.note("quotes");
    return this.note(theirs.quoted ? "peer-quotes-keyword" : "ours-wrong");
  }

  // What the peer made of a list that stands in one string is one name, or names with stray quotes; both are told from
  // the file, which has that string.
  unlist(ours, theirs) {
    const names = theirs.filter(({ kind }) => kind === "family");
    if (names.length !== 1 || !names[0].name.includes(",") || !this.strings.has(names[0].name)) return ours;
    const families = ours.filter(({ kind }) => kind === "family").map(({ name }) => name);
    if (families.join() !== namesIn(names[0].name).join()) return ours;
    this.note("family-list-in-string");
    const first = ours.findIndex(({ kind }) => kind === "family");
    return [...ours.slice(0, first), names[0]];
  }

  relist(theirs) {
    const names = theirs.filter(({ kind }) => kind === "family");
    if (names.length < 2 || !names[0].name.startsWith("'") || !names.at(-1).name.endsWith("'")) return theirs;
    this.note("peer-escaped-quotes");
    names[0].name = names[0].name.slice(1);
    names.at(-1).name = names.at(-1).name.slice(0, -1);
    return theirs;
  }

  isObject() {
    const parts = isObject(this.source?.$value) ? [this.source.$value, ...Object.values(this.source.$value)] : [];
    return parts.some((part) => isObject(part) && "value" in part && "unit" in part);
  }

  isOlderLength() {
    const spacing = this.source?.$value?.letterSpacing;
    return this.property.endsWith("-letter-spacing") && ["string", "number"].includes(typeof spacing);
  }
}

const sameComponent = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// The members of a typography token, each a property of its own here and in Terrazzo.
const PART_TYPES = {
  fontFamily: "fontFamily",
  fontSize: "dimension",
  fontWeight: "fontWeight",
  letterSpacing: "dimension",
  lineHeight: "number",
};

/** Every difference between our sheet and a peer's, as `{ property, ours, theirs, classes }`; and how many are none. */
function compare(ourSheet, theirSheet, tokens, source, strings) {
  const owners = new Map();
  const parts = new Map();
  for (const [id, { name, type }] of Object.entries(tokens)) {
    const owner = { id, name, type, source: followed(source, id) };
    owners.set(name, owner);
    if (type !== "typography") continue;
    for (const [member, kind] of Object.entries(PART_TYPES)) {
      owners.set(`${name}-${kebab(member)}`, owner);
      parts.set(`${name}-${kebab(member)}`, { member, kind });
    }
  }
  // The peer's property: the same name; else the only one with the same letters and digits, `$root` being some of them
  // for Style Dictionary.
  const partners = new Map();
  for (const property of ourSheet.properties.keys()) {
    const id = owners.get(property)?.id ?? "";
    const keys = [bare(property), ...(id.includes("$root") ? [bare(id)] : [])];
    const found = theirSheet.properties.has(property)
      ? [property]
      : keys.flatMap((key) => (ourSheet.byBareName.get(bare(property)).length === 1 ? (theirSheet.byBareName.get(key) ?? []) : []));
    if (found.length === 1) partners.set(property, found[0]);
  }
  const sameProperty = (ours, theirs) => partners.get(ours) === theirs;

  const differences = [];
  let same = 0;
  for (const [property, ours] of ourSheet.properties) {
    const owner = owners.get(property);
    const partner = partners.get(property);
    if (!owner) {
      differences.push({ property, ours, theirs: "", classes: ["ours-wrong"] });
      continue;
    }
    if (partner === undefined) {
      const shorthand = parts.has(property) && partners.has(owner.name);
      const lost = parts.get(property)?.member === "letterSpacing" ? "peer-loses-part" : "composite-shorthand";
      differences.push({ property, ours, theirs: "", classes: [shorthand ? lost : "unexplained"] });
      continue;
    }
    const theirs = theirSheet.properties.get(partner);
    const named = partner === property ? [] : ["name"];
    if (ours === theirs) {
      if (named.length) differences.push({ property, ours, theirs: `--${partner}: ${theirs}`, classes: named });
      else same += 1;
      continue;
    }
    let classes;
    try {
      const type = parts.get(property)?.kind ?? owner.type;
      const pair = { property, ours, theirs, ourSheet, theirSheet, type, source: owner.source };
      classes = new Comparison(pair, sameProperty, strings).run();
      // Other quotes around the same string leave no trace in the components.
      if (classes?.join() === "formatting" && ours.replaceAll('"', "'") === theirs.replaceAll('"', "'")) classes = ["quotes"];
    } catch {
      classes = undefined;
    }
    differences.push({ property, ours, theirs, classes: classes ? [...new Set([...named, ...classes])].sort() : ["unexplained"] });
  }
  const matched = new Set(partners.values());
  for (const [property, theirs] of theirSheet.properties) {
    if (matched.has(property)) continue;
    const extra = Object.values(tokens).some(
      ({ name, type }) => type === "typography" && property.startsWith(`${name}-`) && isExtraMember(source, tokens, name, property),
    );
    differences.push({ property, ours: "", theirs, classes: [extra ? "extra-member" : "unexplained"] });
  }
  for (const theirs of theirSheet.strange) differences.push({ property: "", ours: "", theirs, classes: ["unexplained"] });
  return { same, differences };
}

/** The token as the file has it; for a token that is only a reference, the one at the end of the chain. */
function followed(source, id, depth = 0) {
  const token = source.get(id);
  const target = typeof token?.$value === "string" ? /^\{([^{}]+)\}$/.exec(token.$value)?.[1] : undefined;
  return target !== undefined && depth < 100 ? followed(source, target, depth + 1) : token;
}

function isExtraMember(source, tokens, name, property) {
  const id = Object.keys(tokens).find((key) => tokens[key].name === name);
  const members = Object.keys(source.get(id)?.$value ?? {});
  const known = ["fontFamily", "fontSize", "fontWeight", "letterSpacing", "lineHeight"];
  return members.some((member) => !known.includes(member) && bare(member) === bare(property.slice(name.length)));
}

/** A value of the file as plainly written CSS, references followed; `undefined` for what is not known here. */
function plainCss(type, written, source) {
  const target = typeof written === "string" ? /^\{([^{}]+)\}$/.exec(written)?.[1] : undefined;
  const value = target === undefined ? written : followed(source, target)?.$value;
  const all = (members) => {
    const texts = members.map(([kind, name]) => plainCss(kind, value?.[name], source));
    return texts.includes(undefined) ? undefined : texts.join(" ");
  };
  switch (type) {
    case "color": {
      if (!isObject(value) || !["srgb", "hsl"].includes(value.colorSpace)) return undefined;
      const { colorSpace, components: parts, alpha = 1 } = value;
      const shares = colorSpace === "hsl" ? rgbOfHsl(parts[0], parts[1] / 100, parts[2] / 100) : parts;
      return `rgb(${shares.map((part) => `${part * 100}%`).join(" ")} / ${alpha})`;
    }
    case "dimension":
    case "duration": {
      if (typeof value === "number") return `${value}px`;
      if (!isObject(value)) return value;
      return `${value.value}${["", "dp"].includes(value.unit) ? "px" : value.unit}`;
    }
    case "number":
    case "fontWeight":
      return isObject(value) ? plainCss("dimension", value, source) : value === undefined ? value : String(value);
    case "fontFamily": {
      const names = value === undefined ? [] : [value].flat().flatMap(namesIn);
      return names.length ? names.map((name) => (SYSTEM_FAMILIES.has(name) ? name : JSON.stringify(name))).join(", ") : undefined;
    }
    case "text":
      return typeof value === "string" ? value : undefined;
    case "cubicBezier":
      return Array.isArray(value) ? `cubic-bezier(${value.join(", ")})` : undefined;
    case "strokeStyle":
      return typeof value === "string" ? value : undefined;
    case "border":
      return all([["dimension", "width"], ["strokeStyle", "style"], ["color", "color"]]);
    case "transition":
      return all([["duration", "duration"], ["cubicBezier", "timingFunction"], ["duration", "delay"]]);
    case "shadow": {
      if (Array.isArray(value)) {
        const layers = value.map((layer) => plainCss("shadow", layer, source));
        return layers.includes(undefined) ? undefined : layers.join(", ");
      }
      const text = all([["dimension", "offsetX"], ["dimension", "offsetY"], ["dimension", "blur"], ["dimension", "spread"], ["color", "color"]]);
      return text && value.inset ? `inset ${text}` : text;
    }
    case "typography": {
      const part = (name) => plainCss(PART_TYPES[name], value?.[name], source);
      const [family, size, weight, line] = ["fontFamily", "fontSize", "fontWeight", "lineHeight"].map(part);
      return family && size && `${weight ? `${weight} ` : ""}${size}${line ? `/${line}` : ""} ${family}`;
    }
    default:
      return undefined;
  }
}

/** What is wrong with our own output whoever the peer is: the file is read again, by other code than gatewright's. */
function ownDefects(sheet, tokens, source, strings) {
  const defects = sheet.strange.map((what) => ({ property: "", ours: what, right: "declared once, in :root" }));
  let checked = 0;
  const check = (property, type, written) => {
    const text = sheet.properties.get(property);
    const right = plainCss(type, written, source);
    if (text === undefined && (type !== "typography" || right !== undefined)) {
      return void defects.push({ property, ours: "nothing", right: right ?? "a property" });
    }
    if (right === undefined) return;
    checked += 1;
    let fine = false;
    try {
      const comparison = new Comparison({ property, type, source: undefined }, () => false, strings);
      fine = comparison.value(sheet.expand(components(text)), components(right)) && !comparison.classes.has("ours-wrong");
    } catch {
      // What cannot be read is not fine.
    }
    if (!fine) defects.push({ property, ours: text, right });
  };
  for (const [id, { name, type }] of Object.entries(tokens)) {
    const value = followed(source, id)?.$value;
    check(name, type, value);
    if (type !== "typography") continue;
    for (const [member, kind] of Object.entries(PART_TYPES)) {
      if (value?.[member] !== undefined) check(`${name}-${kebab(member)}`, kind, value[member]);
    }
  }
  return { defects, checked };
}

// ----------------------------------------------------------------------------------------------------------- report

const attempted = async (make) => {
  try {
    return { made: await make() };
  } catch (error) {
    return { error: firstLine(error) };
  }
};

async function buildAll(folder, name, chosen, binary) {
  const document = readJson(join(folder, `${name}.resolver.json`));
  const contexts = contextsOf(document, chosen);
  const files = filesOf(document, contexts);
  return {
    contexts,
    source: sourceTokens(folder, files),
    gatewright: await attempted(() => gatewright(folder, name, contexts, binary)),
    "Style Dictionary": await attempted(() => styleDictionary(folder, files)),
    Terrazzo: await attempted(() => terrazzo(folder, name, contexts)),
  };
}

const PROGRAMS = ["gatewright", "Style Dictionary", "Terrazzo"];
const PEERS = PROGRAMS.slice(1);

/** All strings of the files: what a peer took for one name can be looked up there. */
function stringsIn(value, out = new Set()) {
  if (typeof value === "string") out.add(value);
  else if (value && typeof value === "object") for (const part of Object.values(value)) stringsIn(part, out);
  return out;
}

async function compareSet(sets, name, chosen, binary, details) {
  const scratch = mkdtempSync(join(tmpdir(), "compare-"));
  // gatewright takes no root that holds its own state.
  const folder = join(scratch, "root");
  mkdirSync(folder);
  const lines = [`## ${name}`, ""];
  const counts = new Map();
  try {
    cpSync(join(sets, name), join(folder, name), { recursive: true });
    cpSync(join(sets, `${name}.resolver.json`), join(folder, `${name}.resolver.json`));
    let built = await buildAll(folder, name, chosen, binary);
    const contexts = Object.entries(built.contexts).map(([modifier, context]) => `${modifier} \`${context}\``);
    if (contexts.length) lines.push(`Contexts: ${contexts.join(", ")}.`, "");
    const refused = (when) => {
      for (const program of PROGRAMS) if (built[program].error) lines.push(`- ${program} refuses ${when}: ${built[program].error}`);
    };
    refused("the set as shipped");
    if (built.gatewright.error) {
      for (const peer of PEERS) {
        const strange = built[peer].made ? customProperties(built[peer].made).strange : [];
        if (built[peer].made) lines.push(`- ${peer} builds it as shipped${strange.length ? `, with ${strange.length} properties declared twice, such as ${strange[0]}` : ""}`);
      }
      for (const [what, times] of repair(folder, name)) lines.push(`- repaired for all three: ${what} (${times} ×)`);
      built = await buildAll(folder, name, chosen, binary);
      refused("the repaired set");
    }
    if (lines.at(-1) !== "") lines.push("");
    if (!built.gatewright.made) return { lines, failed: true };

    const { css, tokens } = built.gatewright.made;
    const sheet = new Sheet(css);
    const strings = stringsIn([...built.source.values()]);
    const { defects, checked } = ownDefects(sheet, tokens, built.source, strings);
    for (const { property, ours, right } of defects) lines.push(`- ours-wrong: \`--${property}\` is \`${ours}\`; right: \`${right}\``);
    const results = PEERS.filter((peer) => built[peer].made).map((peer) => {
      const theirs = new Sheet(built[peer].made);
      return { peer, theirs, ...compare(sheet, theirs, tokens, built.source, strings) };
    });
    for (const { peer, differences } of results) {
      for (const { property, ours, theirs, classes } of differences) {
        const label = classes.join(" + ");
        counts.set(label, { ...counts.get(label), [peer]: (counts.get(label)?.[peer] ?? 0) + 1 });
        details.push([name, peer, label, `--${property}`, ours, theirs].join("\t"));
        if (classes.includes("unexplained") || classes.includes("ours-wrong")) {
          lines.push(`- ${label} against ${peer}: \`--${property}\` is \`${ours}\` here, \`${theirs}\` there`);
        }
      }
    }
    if (lines.at(-1) !== "") lines.push("");
    const row = (label, cell) => `| ${label} | ${results.map(cell).join(" | ")} |`;
    lines.push(`${Object.keys(tokens).length} tokens, ${sheet.properties.size} properties; ${checked - defects.length} of them checked against the files.`, "");
    lines.push(row("against", ({ peer }) => peer), `|---|${results.map(() => "---").join("|")}|`);
    lines.push(row("properties there", ({ theirs }) => theirs.properties.size), row("same text", ({ same }) => same));
    for (const label of [...counts.keys()].sort()) lines.push(row(label, ({ peer }) => counts.get(label)[peer] ?? 0));
    lines.push("");
    const failed = defects.length > 0 || [...counts.keys()].some((label) => /unexplained|ours-wrong/.test(label));
    return { lines, failed, labels: [...counts.keys()] };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Lays `over` on `base`, as the format merges files: groups merge, a token replaces whole. */
function laidOver(base, over) {
  if (!isObject(base) || !isObject(over) || "$value" in over || "$value" in base) return over;
  const merged = { ...base };
  for (const name of Object.keys(over)) merged[name] = name in base ? laidOver(base[name], over[name]) : over[name];
  return merged;
}

/** One file per set, repaired, its default contexts merged in order: what all three programs read alike, for benches. */
function mergeSets(sets, names, chosen, to) {
  mkdirSync(to, { recursive: true });
  for (const name of names) {
    const scratch = mkdtempSync(join(tmpdir(), "merge-"));
    try {
      cpSync(join(sets, name), join(scratch, name), { recursive: true });
      cpSync(join(sets, `${name}.resolver.json`), join(scratch, `${name}.resolver.json`));
      repair(scratch, name);
      const document = readJson(join(scratch, `${name}.resolver.json`));
      const files = filesOf(document, contextsOf(document, chosen));
      const merged = files.map((file) => readJson(join(scratch, file))).reduce(laidOver, {});
      writeFileSync(join(to, `${name}.json`), JSON.stringify(merged, null, 2));
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      set: { type: "string", multiple: true },
      context: { type: "string", multiple: true, default: [] },
      details: { type: "string" },
      merge: { type: "string" },
    },
  });
  const [sets, binary] = positionals;
  if (!sets || (!binary && !values.merge)) throw new Error("usage: node compare.mjs SETS GATEWRIGHT [--set NAME]... [--context MODIFIER=CONTEXT]... [--details FILE]");
  const end = ".resolver.json";
  const all = readdirSync(sets).filter((file) => file.endsWith(end)).map((file) => file.slice(0, -end.length));
  const names = values.set ?? all.sort();
  const chosen = Object.fromEntries(values.context.map((pair) => pair.split("=")));
  if (values.merge) return mergeSets(resolve(sets), names, chosen, resolve(values.merge));
  const details = [];
  const seen = new Set();
  let failed = names.length === 0;
  for (const name of names) {
    const set = await compareSet(resolve(sets), name, chosen, resolve(binary), details);
    console.log(set.lines.join("\n"));
    failed ||= set.failed;
    for (const label of set.labels ?? []) for (const one of label.split(" + ")) seen.add(one);
  }
  console.log("| class | kind | what it is |\n|---|---|---|");
  for (const [name, [kind, what]] of Object.entries(CLASSES)) if (seen.has(name)) console.log(`| ${name} | ${kind} | ${what} |`);
  if (values.details) writeFileSync(values.details, `${details.join("\n")}\n`);
  process.exitCode = failed ? 1 : 0;
}

await main();
