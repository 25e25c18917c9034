import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export const ERAS = [['legacy'], [{ pin: '2026-07-28' }]] as const;
export type Era = (typeof ERAS)[number][0];

/** Of a client that shows views beside answers (MCP Apps). */
export const SHOWS_VIEWS: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** The official client of either protocol era, connected over Streamable HTTP; closes with its scope. */
export async function connectMcp(
  server: string,
  token: string,
  mode: Era = 'legacy',
  workspace?: string,
  capabilities: ClientCapabilities = {},
) {
  const client = new Client({ name: 'scenario', version: '1' }, { versionNegotiation: { mode }, capabilities });
  const headers = { authorization: `Bearer ${token}`, ...(workspace !== undefined && { 'x-workspace-id': workspace }) };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server), { requestInit: { headers } }));
  return {
    client,
    /** Structured content of a tool, or the problem that it answered. */
    async use(tool: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
      const answer = await client.callTool({ name: tool, arguments: args });
      if (!answer.isError) return (answer.structuredContent ?? {}) as Record<string, unknown>;
      const block = answer.content.at(-1);
      return block?.type === 'text' ? JSON.parse(block.text) : {};
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
