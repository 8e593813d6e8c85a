// The TypeScript SDK's server with the one tool that all peers of the bench offer. Over standard input and output, or
// with `--http ADDRESS:PORT` behind Fastify, JSON responses; `--sessions` adds the older era's sessions.
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const answer = () => ({
  tools: [],
  success: true,
  status: "completed",
  message: "No tool of 1 has any of these words.",
  metadata: { tokensUsed: 27, duration: 0, resultsCount: 0, transcript: "a3bb189e-8bf9-4888-9912-ace4e6543002" },
});

const inputSchema = z.object({ query: z.string() });

function server() {
  const server = new McpServer({ name: "ts-sdk", version: "1.0.0" });
  server.registerTool("tools_search", { description: "Finds tools.", inputSchema }, async () => {
    const structuredContent = answer();
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}

const at = process.argv.indexOf("--http");
if (at < 0) {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(server);
} else {
  const [host, port] = process.argv[at + 1].split(":");
  const { createMcpHandler } = await import("@modelcontextprotocol/server");
  const { NodeStreamableHTTPServerTransport, toNodeHandler } = await import("@modelcontextprotocol/node");
  const { createMcpFastifyApp } = await import("@modelcontextprotocol/fastify");
  const app = createMcpFastifyApp();
  if (process.argv.includes("--sessions")) {
    const sessions = new Map();
    app.post("/mcp", async (request, reply) => {
      let transport = sessions.get(request.headers["mcp-session-id"]);
      if (!transport) {
        transport = new NodeStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          enableJsonResponse: true,
          onsessioninitialized: (id) => sessions.set(id, transport),
        });
        await server().connect(transport);
      }
      reply.hijack();
      await transport.handleRequest(request.raw, reply.raw, request.body);
    });
  } else {
    const handle = toNodeHandler(createMcpHandler(server, { responseMode: "json" }));
    app.post("/mcp", async (request, reply) => {
      reply.hijack();
      await handle(request.raw, reply.raw, request.body);
    });
  }
  await app.listen({ host, port: Number(port) });
}
