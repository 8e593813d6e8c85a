// node agents.mjs SCRIPT [--structured] (stdio -- COMMAND ARGS… | http URL [TOKEN])
//
// An agent of the OpenAI Agents SDK with gatewright as its MCP server and model.mjs as its model: SCRIPT is what the model
// says, such as [{"call": {"name": "tools_search", "arguments": {"query": "tokens"}}}, {"text": "Found: {{message}}"}].
// --structured has the SDK hand its model the structured content instead of the text.
//
// Prints {client, protocol, server, final, requests, warnings}: `requests` is what the model was sent, one entry per turn
// with {instructions, tools, strict, output}, so `requests[1].output` is what the first call gave. The SDK chooses the era.
import { readFileSync } from "node:fs";
import {
  Agent,
  MCPServerStdio,
  MCPServerStreamableHttp,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
} from "@openai/agents";
import { main, target } from "./common.mjs";
import { start } from "./model.mjs";

const SDK = new URL("./node_modules/@openai/agents/package.json", import.meta.url);

await main(async ([text, ...rest]) => {
  const useStructuredContent = rest[0] === "--structured";
  const server = target(useStructuredContent ? rest.slice(1) : rest);
  const options = { name: "gatewright", useStructuredContent };
  const gatewright =
    server.kind === "stdio"
      ? new MCPServerStdio({ ...options, command: server.command, args: server.args, env: process.env })
      : new MCPServerStreamableHttp({
          ...options,
          url: server.url,
          requestInit: server.token ? { headers: { authorization: `Bearer ${server.token}` } } : {},
        });
  const model = await start(JSON.parse(text));
  // Traces go to OpenAI: nothing here leaves the machine.
  setTracingDisabled(true);
  try {
    await gatewright.connect();
    // The SDK keeps its MCP client to itself; which version it agreed on is worth a look past that.
    const session = gatewright.session ?? gatewright.underlying?.session;
    const agent = new Agent({
      name: "Test",
      instructions: "Do as the script says.",
      model: "scripted",
      mcpServers: [gatewright],
    });
    const modelProvider = new OpenAIProvider({ baseURL: model.url, apiKey: "none", useResponses: true });
    const result = await new Runner({ modelProvider }).run(agent, "Go.");
    return {
      client: `@openai/agents ${JSON.parse(readFileSync(SDK, "utf8")).version}`,
      protocol: session?.getNegotiatedProtocolVersion(),
      server: session?.getServerVersion(),
      final: result.finalOutput,
      requests: model.seen,
    };
  } finally {
    await gatewright.close();
    model.close();
  }
});
