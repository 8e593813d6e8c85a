// node style-dictionary.mjs SOURCE OUT: builds CSS, SCSS and JavaScript with Style Dictionary, as its documentation shows.
import { statSync } from "node:fs";
import StyleDictionary from "style-dictionary";

const [, , source, out] = process.argv;
const glob = statSync(source).isDirectory() ? `${source}/**/*.json` : source;
const dictionary = new StyleDictionary({
  source: [glob],
  log: { verbosity: "silent", warnings: "disabled" },
  platforms: {
    css: { transformGroup: "css", buildPath: `${out}/`, files: [{ destination: "tokens.css", format: "css/variables", options: { outputReferences: true } }] },
    scss: { transformGroup: "scss", buildPath: `${out}/`, files: [{ destination: "tokens.scss", format: "scss/variables" }] },
    js: { transformGroup: "js", buildPath: `${out}/`, files: [{ destination: "tokens.js", format: "javascript/es6" }] },
  },
});
await dictionary.hasInitialized;
await dictionary.buildAllPlatforms();
