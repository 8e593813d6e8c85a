// Starts the program that is named with a TypeScript configuration that says nothing. Storybook looks for one from its folder up
// to the machine's root, and a confined program cannot look through that.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [configuration, program] = process.argv.splice(2, 2);
process.env.TS_NODE_PROJECT = configuration;
process.argv[1] = resolve(program);
await import(pathToFileURL(process.argv[1]).href);
