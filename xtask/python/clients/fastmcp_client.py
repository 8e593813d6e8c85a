"""python fastmcp_client.py ERA OK BAD (stdio -- COMMAND ARGS… | http URL [TOKEN])

FastMCP's client: connects, lists the tools, makes a call that should work and one that should not. ERA is `legacy`
(initialize, 2025-11-25), `modern` (2026-07-28, without asking) or `auto` (the client probes). OK and BAD:
{"name": …, "arguments": {…}}.

Prints {client, era, protocol, server, instructions, tools, ok, bad, errors, warnings}: `ok` and `bad` as `outcome` in
common.py has them, and `ok.typed`: whether FastMCP could make an object of the result by its output schema. `errors` is
what the client reported out of band.
"""

import os
import sys
from importlib.metadata import version
from typing import Any

sys.dont_write_bytecode = True  # common.py is in the source tree as well
import common
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


def transport(server: common.Target) -> Any:
    """How to reach a server."""
    if server.command:
        # The client hands on HOME and PATH alone; the tests keep gatewright's state elsewhere by more than these.
        command, *args = server.command
        return StdioTransport(command=command, args=args, env=dict(os.environ), keep_alive=False)
    return StreamableHttpTransport(server.url, auth=server.token)


async def work(args: list[str]) -> dict[str, Any]:
    era, ok, bad, where = common.arguments(args)
    errors: list[str] = []

    async def heard(message: Any) -> None:
        if isinstance(message, Exception):
            errors.append(f"{type(message).__name__}: {message}")

    async with Client(transport(common.target(where)), mode=common.mode(era), message_handler=heard) as client:
        tools = [tool.name for tool in await client.list_tools()]
        name, arguments = common.call(ok)
        result: Any = None

        async def calling() -> Any:
            nonlocal result
            result = await client.call_tool(name, arguments)
            return result

        worked = await common.outcome(calling())
        name_of_bad, bad_arguments = common.call(bad)
        return {
            "client": f"fastmcp {version('fastmcp')}",
            "era": era,
            "protocol": client.protocol_version,
            "server": client.server_info and client.server_info.model_dump(exclude_none=True),
            "instructions": client.instructions,
            "tools": tools,
            "ok": {**worked, "typed": getattr(result, "data", None) is not None},
            # Without this FastMCP raises with the text alone, and the rest of the result is lost.
            "bad": await common.outcome(client.call_tool(name_of_bad, bad_arguments, raise_on_error=False)),
            "errors": errors,
        }


common.main(work)
