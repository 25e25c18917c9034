"""Signs in with the OAuth provider of the official Python SDK, and prints the names of the tools that it finds."""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

from httpx2 import AsyncClient
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

REDIRECT = "http://127.0.0.1:33418/callback"


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def lead(address):
    print(address, flush=True)


async def answered():
    """The test writes the address that the browser was led to."""
    line = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlsplit(line.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main(url):
    metadata = OAuthClientMetadata(client_name="Official Python client", redirect_uris=[REDIRECT])
    provider = OAuthClientProvider(url, metadata, Memory(), lead, answered)
    async with AsyncClient(auth=provider) as http, streamable_http_client(url, http_client=http) as (read, write, *_):
        async with ClientSession(read, write) as session:
            await session.initialize()
            print(*[tool.name for tool in (await session.list_tools()).tools])


asyncio.run(main(sys.argv[1]))
