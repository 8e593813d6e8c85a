// node terrazzo.mjs SOURCE OUT: builds CSS and JavaScript with Terrazzo's own parser and plugins, lint rules off.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Logger, build, defineConfig, parse } from "@terrazzo/parser";
import css from "@terrazzo/plugin-css";
import js from "@terrazzo/plugin-js";

const [, , source, out] = process.argv;
const files = statSync(source).isDirectory()
  ? readdirSync(source, { recursive: true }).filter((f) => f.endsWith(".json")).map((f) => join(source, f))
  : [source];
const logger = new Logger({ level: "error" });
const off = ["consistent-naming", "valid-color", "valid-dimension", "valid-typography", "valid-transition", "valid-shadow", "valid-font-family"];
const config = defineConfig(
  {
    tokens: files,
    outDir: `${out}/`,
    lint: { rules: Object.fromEntries(off.map((rule) => [`core/${rule}`, "off"])) },
    plugins: [css({ filename: "tokens.css" }), js({ filename: "tokens.js" })],
  },
  { cwd: pathToFileURL(`${process.cwd()}/`), logger },
);
const sources = files.map((f) => ({ filename: pathToFileURL(resolve(f)), src: readFileSync(f, "utf8") }));
const parsed = await parse(sources, { config, logger });
const built = await build(parsed.tokens, { resolver: parsed.resolver, sources: parsed.sources, config, logger });
mkdirSync(out, { recursive: true });
for (const file of built.outputFiles) writeFileSync(join(out, basename(file.filename)), file.contents);
