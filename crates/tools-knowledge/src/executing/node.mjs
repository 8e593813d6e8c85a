// Runs a skill that needs Node: its files are put beside this one, its packages are the project's. What it returns is said on standard
// output behind U+0001; everything else that anybody says goes to standard error.
import { Console } from "node:console";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const home = dirname(fileURLToPath(import.meta.url));
const asked = JSON.parse(readFileSync(join(home, "skill.json"), "utf8"));
const say = process.stdout.write.bind(process.stdout);
globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });

const top = join(home, "skill");
for (const [path, text] of Object.entries(asked.files)) {
  mkdirSync(dirname(join(top, path)), { recursive: true });
  writeFileSync(join(top, path), text);
}
writeFileSync(join(top, "package.json"), '{"type":"module"}');
try {
  symlinkSync(join(process.cwd(), "node_modules"), join(home, "node_modules"));
} catch {
  // There was one.
}

// Files end as their author named them, and imports may leave the ending out.
const hooks = `
import { readFile } from "node:fs/promises";
const ends = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.mts", "/index.js", "/index.mjs"];
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!specifier.startsWith(".")) throw error;
    const tries = ends.map((end) => specifier + end);
    if (/\\.m?js$/.test(specifier)) tries.unshift(specifier.replace(/\\.(m?)js$/, ".$1ts"));
    for (const one of tries) {
      try {
        return await next(one, context);
      } catch {
        // The next one.
      }
    }
    throw error;
  }
}
export async function load(url, context, next) {
  if (!/\\.m?ts$/.test(url)) return next(url, context);
  return { format: "module", shortCircuit: true, source: await readFile(new URL(url)) };
}`;
if (asked.network) await import("./door.mjs");
register("data:text/javascript," + encodeURIComponent(hooks));

const ended = (answer) => say("\u0001" + JSON.stringify(answer) + "\n");
try {
  const module = await import(pathToFileURL(join(top, asked.entry)).href);
  const called = asked.functions.map((name) => module[name]).find((one) => typeof one === "function");
  if (!called) throw new TypeError(`it exports none of ${asked.functions.join(", ")}`);
  const result = await called(asked.input);
  ended({ result: result === undefined ? null : result });
} catch (error) {
  const stack = String(error?.stack ?? "").split("\n").filter((line) => line.includes(top + "/"));
  const frames = stack.map((line) => line.trim().replace(/^at /, "").replaceAll("file://", "").replaceAll(top + "/", ""));
  ended({ error: { name: String(error?.name ?? "Error"), message: String(error?.message ?? error), code: error?.code, frames } });
}
