import type { ServerResponse } from 'node:http';
import {
  type InitializeRequest,
  LATEST_PROTOCOL_VERSION,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type AuthenticatedRequest, asAccepted, sendWebResponse, webRequest } from './web-exchange.ts';

/**
 * Most characters of JSON of the client's capabilities in `initialize`; of a client that sends more, no capability is stored.
 */
const MAX_CLIENT = 8_192;
const MAX_TEXT = 256;

/** The transport of one session under an id that is chosen before its client initializes it. */
export interface SessionTransport {
  readonly isInitialized: boolean;
  /** @returns false, with nothing sent, where the session has ended here meanwhile */
  handle(request: AuthenticatedRequest, response: ServerResponse, body: unknown, begun: () => void): Promise<boolean>;
  /** Has the server hear again what the client said when it initialized the session, perhaps to another control plane. */
  initializeAgain(client: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface TransportOptions {
  readonly id: string;
  readonly server: Server;
  readonly isOver: () => boolean;
  readonly initialized: () => void;
  readonly deleted: () => Promise<void>;
}

export async function sessionTransport(options: TransportOptions): Promise<SessionTransport> {
  const { id, server, isOver, initialized, deleted } = options;
  let isInitialized = false;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessioninitialized() {
      isInitialized = true;
      initialized();
    },
    onsessionclosed: deleted,
  });
  await server.connect(transport);
  const post = (message: object) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': id,
    };
    return transport.handleRequest(new Request('http://mesh/mcp', { method: 'POST', headers }), {
      parsedBody: { jsonrpc: '2.0', ...message },
    });
  };

  return {
    get isInitialized() {
      return isInitialized;
    },
    async handle(request, response, body, begun) {
      if (isOver()) return false;
      const { auth: authInfo } = request;
      const asked = { ...(authInfo && { authInfo }), parsedBody: body };
      const answer = await transport.handleRequest(webRequest(request), asked);
      if (answer.ok) begun();
      await sendWebResponse(asAccepted(answer, request), response);
      return true;
    },
    async initializeAgain(client) {
      const answer = await post({ id: 0, method: 'initialize', params: client });
      // Its body ends with the answer.
      await answer.text();
      await post({ method: 'notifications/initialized' });
    },
  };
}

/** Returns the parameters of `initialize` that are stored. */
export function clientOf(body: unknown): Readonly<Record<string, unknown>> {
  const { params = {} } = body as { readonly params?: Partial<InitializeRequest['params']> };
  const { protocolVersion = LATEST_PROTOCOL_VERSION, capabilities = {}, clientInfo } = params;
  const text = (value: unknown) => String(value).slice(0, MAX_TEXT);
  const isShort = JSON.stringify(capabilities).length <= MAX_CLIENT;
  return {
    protocolVersion: text(protocolVersion),
    capabilities: isShort ? capabilities : {},
    clientInfo: { name: text(clientInfo?.name), version: text(clientInfo?.version) },
  };
}
