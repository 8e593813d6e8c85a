// node typescript.mjs ERA OK BAD (stdio -- COMMAND ARGS… | http URL [TOKEN])
//
// The TypeScript client: connects, lists the tools, makes a call that should work and one that should not.
// ERA is `legacy` (initialize, 2025-11-25), `modern` (2026-07-28, nothing else accepted), `auto` (the client probes), or
// `v1`, which is the package before the split. OK and BAD: {"name": …, "arguments": {…}}.
//
// Prints {client, era, protocol, server, instructions, tools, ok, bad, errors, warnings}: `ok` and `bad` as `outcome` in
// common.mjs has them, `errors` what the client reported out of band.
import { call, main, outcome, target } from "./common.mjs";

const NEGOTIATION = { legacy: "legacy", modern: { pin: "2026-07-28" }, auto: "auto" };

/** The classes of the package that an era needs; they have the same names in both. */
async function library(era) {
  if (era === "v1") {
    return {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    };
  }
  if (!(era in NEGOTIATION)) throw new Error("ERA is legacy, modern, auto or v1");
  return { ...(await import("@modelcontextprotocol/client")), ...(await import("@modelcontextprotocol/client/stdio")) };
}

await main(async ([era, ok, bad, ...where]) => {
  const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await library(era);
  const server = target(where);
  // The client hands on HOME and PATH alone; the tests keep gatewright's state elsewhere by more than these.
  const transport =
    server.kind === "stdio"
      ? new StdioClientTransport({ command: server.command, args: server.args, env: process.env })
      : new StreamableHTTPClientTransport(new URL(server.url), {
          requestInit: server.token ? { headers: { authorization: `Bearer ${server.token}` } } : {},
        });
  const client = new Client(
    { name: "gatewright-test", version: "1.0.0" },
    era === "v1" ? {} : { versionNegotiation: { mode: NEGOTIATION[era] } },
  );
  // The older package tells only its transport which version was agreed on, and that of stdio does not listen.
  if (era === "v1" && server.kind === "stdio") {
    transport.setProtocolVersion = (version) => {
      transport.protocolVersion = version;
    };
  }
  const errors = [];
  client.onerror = (e) => errors.push(e.message);
  await client.connect(transport);
  const protocol = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
  const { tools } = await client.listTools();
  const answer = {
    client: era === "v1" ? "@modelcontextprotocol/sdk" : "@modelcontextprotocol/client",
    era,
    protocol,
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    tools: tools.map((tool) => tool.name),
    ok: await outcome(client.callTool(call(ok))),
    bad: await outcome(client.callTool(call(bad))),
    errors,
  };
  await transport.terminateSession?.();
  await client.close();
  return answer;
});
