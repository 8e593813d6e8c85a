// Imports a package as those who install it would, from a folder of its own below the project, so that it finds what it depends on
// where the project has installed it. Writes one JSON object a line: what was tried, and how it ended.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(readFileSync(process.argv[2], "utf8"));
const user = join(process.cwd(), "node_modules", ".gatewright-smoke");
const place = join(user, "node_modules", ...asked.name.split("/"));
for (const [path, text] of Object.entries(asked.files)) {
  const to = join(place, path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, Buffer.from(text, "base64"));
}
const importer = join(user, "user.mjs");
writeFileSync(importer, "export const load = (specifier) => import(specifier);\n");
const { load } = await import(pathToFileURL(importer));
const require = createRequire(importer);
const append = appendFileSync;
const told = join(user, "told");
const say = (how) => append(told, `${asked.mark}${JSON.stringify(how)}\n`);
for (const { specifier, way } of asked.entries) {
  try {
    const found = way === "require" ? require(specifier) : await load(specifier);
    const names = found !== null && ["object", "function"].includes(typeof found) ? Object.keys(found) : [];
    say({ specifier, way, ok: true, names: names.slice(0, 50) });
  } catch (error) {
    say({ specifier, way, ok: false, kind: String(error?.name), code: error?.code, message: String(error?.message ?? error).slice(0, 400) });
  }
}
// What the package left running does not keep us.
process.exit(0);
