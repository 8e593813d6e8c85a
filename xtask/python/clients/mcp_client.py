"""python mcp_client.py ERA OK BAD (stdio -- COMMAND ARGS… | http URL [TOKEN])

The Python client: connects, lists the tools, makes a call that should work and one that should not. ERA is `legacy`
(initialize, 2025-11-25), `modern` (2026-07-28, without asking) or `auto` (the client probes). OK and BAD:
{"name": …, "arguments": {…}}.

Prints {client, era, protocol, server, instructions, tools, ok, bad, errors, warnings}: `ok` and `bad` as `outcome` in
common.py has them, `errors` what the client reported out of band.
"""

import os
import sys
from importlib.metadata import version
from typing import Any

sys.dont_write_bytecode = True  # common.py is in the source tree as well
import common
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


def transport(server: common.Target) -> Any:
    """How to reach a server."""
    if server.command:
        # The client hands on HOME and PATH alone; the tests keep gatewright's state elsewhere by more than these.
        return StdioServerParameters(command=server.command[0], args=server.command[1:], env=dict(os.environ))
    headers = {"authorization": f"Bearer {server.token}"} if server.token else None
    return streamable_http_client(server.url, http_client=create_mcp_http_client(headers))


async def work(args: list[str]) -> dict[str, Any]:
    era, ok, bad, where = common.arguments(args)
    errors: list[str] = []

    async def heard(message: Any) -> None:
        if isinstance(message, Exception):
            errors.append(f"{type(message).__name__}: {message}")

    server = transport(common.target(where))
    async with Client(server, mode=common.mode(era), message_handler=heard) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            if not (cursor := page.next_cursor):
                break
        return {
            "client": f"mcp {version('mcp')}",
            "era": era,
            "protocol": client.protocol_version,
            "server": client.server_info and client.server_info.model_dump(exclude_none=True),
            "instructions": client.instructions,
            "tools": tools,
            "ok": await common.outcome(client.call_tool(*common.call(ok))),
            "bad": await common.outcome(client.call_tool(*common.call(bad))),
            "errors": errors,
        }


common.main(work)
