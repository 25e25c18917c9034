"""Signs in with fastmcp, and prints the names of the tools that it finds."""

import asyncio
import sys

from fastmcp import Client


async def main(url):
    async with Client(url, auth="oauth") as client:
        print(*[tool.name for tool in await client.list_tools()])


asyncio.run(main(sys.argv[1]))
