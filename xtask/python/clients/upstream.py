# python upstream.py
#
# An MCP server over its streams, on Python's own package, for tests of what is upstream of gatewright.
from mcp.server import MCPServer

server = MCPServer("notes")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


if __name__ == "__main__":
    server.run()
