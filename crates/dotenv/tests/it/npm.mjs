// What npm's dotenv reads: an array of texts on standard input, an array of objects on standard output.
import { createRequire } from "node:module";
const dotenv = createRequire(process.argv[2] + "/")("dotenv");
let text = "";
for await (const piece of process.stdin) text += piece;
console.log(JSON.stringify(JSON.parse(text).map((one) => dotenv.parse(one))));
