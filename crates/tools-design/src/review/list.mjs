// Prints the files below a folder as JSON, those only that are regular: a list that our own side reads them by.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const found = [];
const open = [process.argv[2]];
while (open.length > 0 && found.length < 20000) {
  const folder = open.pop();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) open.push(path);
    else if (entry.isFile()) found.push(path);
  }
}
process.stdout.write(JSON.stringify(found));
