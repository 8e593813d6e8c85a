// node inspector.mjs ERA OK BAD (stdio -- COMMAND ARGS… | http URL [TOKEN])
//
// The MCP Inspector's command line, one process per method as its users run it: tools/list with --strict, then OK and BAD
// as calls. ERA is `legacy`, `modern` or `auto`. OK and BAD: {"name": …, "arguments": {…}}.
//
// Prints {client, era, list, ok, bad, warnings}. `list` is {exit, tools, findings: [{severity, tool, path, issue}], stderr};
// `ok` and `bad` have the fields of `outcome` in common.mjs, `exit`, `stderr` and, where the Inspector says something of
// its own, `inspector`: {code, message}. Exits are the Inspector's: 5 a tool's error, 6 a schema that clients cannot use.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, main, outcome, target } from "./common.mjs";

const INSPECTOR = new URL("./node_modules/@modelcontextprotocol/inspector/", import.meta.url);
const { version, bin } = JSON.parse(readFileSync(new URL("package.json", INSPECTOR), "utf8"));
const PROGRAM = fileURLToPath(new URL(bin["mcp-inspector"], INSPECTOR));

/** Where the Inspector keeps what it knows of logins, instead of in the home directory. */
const storage = mkdtempSync(join(tmpdir(), "inspector-"));
process.on("exit", () => rmSync(storage, { recursive: true }));

/** Runs the Inspector, and returns what it printed. */
function run(args) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, MCP_STORAGE_DIR: storage, MCP_CLIENT_CONFIG_PATH: join(storage, "client.json") };
    const child = spawn(process.execPath, [PROGRAM, "--cli", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const out = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"])
      child[stream].setEncoding("utf8").on("data", (data) => (out[stream] += data));
    child.on("error", reject);
    child.on("close", (exit) => resolve({ exit, ...out }));
  });
}

/** The report of --strict on standard error, where a server's own log may be as well. */
function findings(stderr) {
  const each = /^(Warning|Error): tool "(.+)"\n {2}Path: (.+)\n {2}Issue: (.+)$/gm;
  const found = [...stderr.matchAll(each)].map(([, severity, tool, path, issue]) => ({ severity, tool, path, issue }));
  // The Inspector counts them too: a report that this does not understand must not pass for a clean one.
  const [, errors = 0, warnings = 0] = /^(\d+) errors?, (\d+) warnings? across/m.exec(stderr) ?? [];
  if (found.length !== Number(errors) + Number(warnings))
    throw new Error(`the report has another form now:\n${stderr}`);
  return found;
}

await main(async ([era, ok, bad, ...where]) => {
  if (!["legacy", "modern", "auto"].includes(era)) throw new Error("ERA is legacy, modern or auto");
  const server = target(where);
  // The Inspector hands on HOME and PATH alone; the tests keep gatewright's state elsewhere by these.
  const env = Object.entries(process.env).filter(([name]) => /^(XDG|GATEWRIGHT)_/.test(name));
  const header = server.token ? ["--header", `Authorization: Bearer ${server.token}`] : [];
  const end =
    server.kind === "stdio"
      ? [...env.flatMap(([name, value]) => ["-e", `${name}=${value}`]), "--", server.command, ...server.args]
      : // Never a browser: nobody is there to log in.
        ["--transport", "http", "--server-url", server.url, "--stored-auth-only", ...header];
  const inspect = (...args) => run(["--protocol-era", era, "--format", "json", ...args, ...end]);
  const invoke = async (text) => {
    const { name, arguments: given } = call(text);
    const args = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(given)];
    const { exit, stdout, stderr } = await inspect(...args);
    const result = stdout ? JSON.parse(stdout).result : undefined;
    const said = stderr.split("\n").find((line) => line.startsWith('{"error":'));
    return { exit, ...(result && (await outcome(result))), inspector: said && JSON.parse(said).error, stderr };
  };

  const list = await inspect("--method", "tools/list", "--strict");
  if (!list.stdout) throw new Error(`tools/list: exit ${list.exit}: ${list.stderr}`);
  const tools = JSON.parse(list.stdout).result.tools.map((tool) => tool.name);
  return {
    client: `@modelcontextprotocol/inspector ${version}`,
    era,
    list: { exit: list.exit, tools, findings: findings(list.stderr), stderr: list.stderr },
    ok: await invoke(ok),
    bad: await invoke(bad),
  };
});
