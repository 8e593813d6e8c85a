// node upstream.mjs ERA
//
// An MCP server for tests of what is upstream of gatewright, on loopback: the real packages, and a control port that
// changes what it says. ERA is `legacy` (initialize and sessions, the package before the split) or `modern` (2026-07-28).
//
// Prints {url, control} when it is ready and runs until its standard input closes. Its tools: `search` {query, wait?}
// answers with structured content after `wait` milliseconds; `echoText` {text} with text, as an error where the text
// begins with `fail`; `picture` {} with an image and a link; `ask` {}, which is not on the list at first, asks the user for a
// colour, as its era does, and answers with what it was told.
//
// The control port takes and gives JSON:
//   GET /seen: every request so far: [{method, headers, body}], with the names of tools whose calls were cancelled as
//     `cancelled`.
//   POST /set {tools?, version?, page?, twice?, down?, fail?, slow?}: what it says from now on: the list of tools; the server's version;
//     how many tools a page of the list has; each tool's name twice in its object; no answers but 503; an error with this text for every list; how many
//     milliseconds a list takes.
//   POST /changed: says that the list changed.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";

const [era] = process.argv.slice(2);
if (!["legacy", "modern"].includes(era)) throw new Error("ERA is legacy or modern");

const text = { type: "string", description: "What." };
const TOOLS = [
  {
    name: "search",
    title: "Search",
    description: "Finds what there is.",
    inputSchema: { type: "object", properties: { query: text, wait: { type: "integer" } }, required: ["query"] },
    outputSchema: { type: "object", properties: { found: { type: "array", items: { type: "string" } } } },
  },
  { name: "echoText", description: "Says it again.", inputSchema: { type: "object", properties: { text } } },
  { name: "picture", inputSchema: { type: "object" } },
];
const state = { tools: TOOLS, version: "1.0.0", page: 100, twice: false, down: false, fail: "", slow: 0 };
const seen = { requests: [], cancelled: [] };

async function list({ params }) {
  if (state.fail) throw new Error(state.fail);
  await new Promise((resolve) => setTimeout(resolve, state.slow));
  const from = Number(params?.cursor ?? 0);
  const tools = state.tools.slice(from, from + state.page);
  const next = from + state.page;
  return { tools, ...(next < state.tools.length ? { nextCursor: String(next) } : {}) };
}

async function call({ params }, signal) {
  const { name, arguments: given = {} } = params;
  if (name === "search") {
    const cancelled = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(true)));
    const waited = new Promise((resolve) => setTimeout(resolve, given.wait ?? 0, false));
    if (await Promise.race([cancelled, waited])) seen.cancelled.push(name);
    return { content: [{ type: "text", text: `One found.` }], structuredContent: { found: [`about ${given.query}`] } };
  }
  if (name === "echoText") {
    return { content: [{ type: "text", text: given.text }], isError: given.text.startsWith("fail") };
  }
  const link = { type: "resource_link", uri: "https://docs.example/one", name: "one" };
  return { content: [{ type: "image", mimeType: "image/png", data: "aGVsbG8h" }, link] };
}

const QUESTION = {
  message: "Which colour?",
  requestedSchema: {
    type: "object",
    properties: { colour: { type: "string", enum: ["red", "green"] }, count: { type: "integer", minimum: 1 } },
    required: ["colour"],
  },
};
const told = (answer) => ({ content: [{ type: "text", text: `told ${JSON.stringify(answer)}` }] });

const info = () => ({ name: "upstream", version: state.version });
const capabilities = { tools: { listChanged: true } };

/** Answers requests, as (request, response, body) => …, and says that the list changed. */
async function modern() {
  const { createMcpHandler, inputRequired, Server } = await import("@modelcontextprotocol/server");
  const ask = ({ inputResponses, requestState }) => {
    if (!inputResponses?.colour) {
      return inputRequired({ inputRequests: { colour: inputRequired.elicit(QUESTION) }, requestState: "first" });
    }
    return told({ ...inputResponses.colour, after: requestState?.() ?? requestState });
  };
  const handler = createMcpHandler(
    () => {
      const server = new Server(info(), { capabilities });
      server.setRequestHandler("tools/list", list);
      server.setRequestHandler("tools/call", (request, context) => {
        if (request.params.name === "ask") return ask(context.mcpReq);
        return call(request, context.mcpReq?.signal);
      });
      return server;
    },
    { legacy: "reject" },
  );
  const answer = async (request, response, body) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const asked = new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method,
      headers: request.headers,
      signal: gone.signal,
      ...(request.method === "POST" ? { body } : {}),
    });
    const answered = await handler.fetch(asked);
    answered.headers.delete("content-length");
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (!answered.body) return response.end();
    for await (const chunk of Readable.fromWeb(answered.body)) response.write(twice(Buffer.from(chunk).toString()));
    response.end();
  };
  return { answer, changed: () => handler.notify.toolsChanged() };
}

async function legacy() {
  const { Server } = await import("@modelcontextprotocol/sdk/server/index.js");
  const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const { ListToolsRequestSchema, CallToolRequestSchema, ElicitResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const sessions = new Map();
  const answer = async (request, response, body) => {
    const id = request.headers["mcp-session-id"];
    let session = sessions.get(id);
    if (id && !session) return response.writeHead(404).end();
    if (!session) {
      const server = new Server(info(), { capabilities });
      server.setRequestHandler(ListToolsRequestSchema, list);
      server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
        if (request.params.name !== "ask") return call(request, extra.signal);
        return told(await extra.sendRequest({ method: "elicitation/create", params: QUESTION }, ElicitResultSchema));
      });
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: body.includes('"tools/list"'),
        onsessioninitialized: (made) => void sessions.set(made, session),
      });
      session = { server, transport };
      await server.connect(transport);
    }
    const [write, head] = [response.write.bind(response), response.writeHead.bind(response)];
    // What is said may grow on the way.
    response.writeHead = (status, headers = {}) => {
      const { "content-length": _, ...rest } = headers;
      return head(status, rest);
    };
    response.write = (chunk, ...rest) => write(twice(Buffer.from(chunk).toString()), ...rest);
    await session.transport.handleRequest(request, response, body ? JSON.parse(body) : undefined);
  };
  const changed = () => sessions.forEach(({ server }) => void server.sendToolListChanged().catch(() => {}));
  return { answer, changed, forget: () => sessions.clear() };
}

/** What a careless or a hostile server sends: a key that stands twice. */
function twice(said) {
  return state.twice ? said.replaceAll('"name":"search"', '"name":"search","name":"search"') : said;
}

const served = await (era === "modern" ? modern() : legacy());

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function listening(handle) {
  const server = createServer((request, response) => {
    handle(request, response).catch((e) => {
      console.error(e);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

const url = await listening(async (request, response) => {
  const body = await bodyOf(request);
  seen.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
  if (state.down) return response.writeHead(503).end();
  await served.answer(request, response, body);
});

const control = await listening(async (request, response) => {
  const body = await bodyOf(request);
  const asked = body ? JSON.parse(body) : {};
  let answer = {};
  if (request.url === "/seen") answer = seen;
  else if (request.url === "/set") Object.assign(state, asked);
  else if (request.url === "/changed") served.changed();
  else if (request.url === "/forget") served.forget?.();
  else throw new Error(`no ${request.url}`);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
});

console.log(JSON.stringify({ url: `${url}/mcp`, control }));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
