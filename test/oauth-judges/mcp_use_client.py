"""Signs in with mcp-use, and prints the names of the tools that it finds."""

import asyncio
import sys

from mcp_use import MCPClient


async def main(url, port):
    server = {"url": url, "auth": {"callback_port": int(port)}}
    client = MCPClient(config={"mcpServers": {"mesh": server}})
    session = await client.create_session("mesh")
    print(*[tool.name for tool in await session.list_tools()])
    await client.close_all_sessions()


asyncio.run(main(*sys.argv[1:]))
