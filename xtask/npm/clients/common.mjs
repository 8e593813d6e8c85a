// What the client scripts share: where the server is, what a call gave, and how a script answers.

/** Reads `stdio -- COMMAND ARGS…` or `http URL [TOKEN]`. */
export function target(args) {
  const [kind, ...rest] = args;
  if (kind === "stdio" && rest[0] === "--" && rest[1]) return { kind, command: rest[1], args: rest.slice(2) };
  if (kind === "http" && rest[0] && rest.length <= 2) return { kind, url: rest[0], token: rest[1] };
  throw new Error("say where the server is: `stdio -- COMMAND ARGS…` or `http URL [TOKEN]`");
}

/** Reads a call that an argument describes: `{"name": …, "arguments": {…}}`. */
export function call(text) {
  const { name, arguments: given } = JSON.parse(text ?? "null") ?? {};
  if (typeof name !== "string") throw new Error('say what to call: {"name": "…", "arguments": {…}}');
  return { name, arguments: given ?? {} };
}

/**
 * What a call gave, in the same fields for every client. `code` is the tool's own (`error.code` in the text of a result
 * that is an error), or the protocol's number where the client threw.
 */
export async function outcome(calling) {
  let result;
  try {
    result = await calling;
  } catch (e) {
    return { isError: true, thrown: e.constructor.name, code: e.code, message: e.message };
  }
  const text = result.content.filter((part) => part.type === "text").map((part) => part.text);
  const isError = result.isError ?? false;
  return {
    isError,
    code: isError ? codeIn(text[0]) : undefined,
    structured: result.structuredContent,
    text,
    meta: result._meta,
  };
}

function codeIn(text) {
  try {
    return JSON.parse(text).error?.code;
  } catch {
    return undefined;
  }
}

/** Runs a script: its one object goes to standard output; what libraries print on the way is part of it. */
export async function main(work) {
  const warnings = [];
  const keep = (...said) => warnings.push(said.map((part) => part?.message ?? String(part)).join(" "));
  for (const level of ["debug", "error", "info", "log", "warn"]) console[level] = keep;
  process.on("warning", keep);
  let answer;
  try {
    answer = { ...(await work(process.argv.slice(2), keep)), warnings };
  } catch (e) {
    answer = { error: { name: e.constructor.name, code: e.code, status: e.status, message: e.message }, warnings };
    process.exitCode = 1;
  }
  // Some libraries keep sockets and timers open that nobody waits for; leave once the answer is out.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit());
}
