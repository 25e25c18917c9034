import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** An AI agent's end of the conversation: MCP over Streamable HTTP. */
export interface Agent {
  /** Calls a tool and answers its structured content. @throws Error with what the tool answered instead. */
  use<Answer>(tool: string, args?: Record<string, unknown>): Promise<Answer>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

/** @param token left out where the door of a sandbox adds it */
export async function connectAgent(server: string, token?: string): Promise<Agent> {
  const client = new Client({ name: 'first-change', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server), { requestInit }));
  return {
    async use<Answer>(tool: string, args: Record<string, unknown> = {}) {
      const { isError, structuredContent, content } = await client.callTool({ name: tool, arguments: args });
      if (isError || structuredContent === undefined) throw new Error(`${tool}: ${JSON.stringify(content)}`);
      return structuredContent as Answer;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}
