# python upstream.py
#
# An MCP server over its streams, on Python's own package, for tests of what is upstream of gatewright.
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("notes")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


class Colour(BaseModel):
    """What the user is asked for."""

    colour: str


def wanted() -> Elicit[Colour]:
    """Asks as the protocol's era does."""
    return Elicit("Which colour?", Colour)


@server.tool()
def paint(what: str, colour: Annotated[Colour, Resolve(wanted)]) -> str:
    """Paints something in the colour that the user wants."""
    return f"{what} is {colour.colour}"


@server.tool()
async def walk(steps: int, ctx: Context) -> str:
    """Says at each step how far it is."""
    for n in range(steps):
        await anyio.sleep(0.3)
        await ctx.report_progress(n + 1, steps, f"step {n + 1}")
    return "there"


if __name__ == "__main__":
    server.run()
