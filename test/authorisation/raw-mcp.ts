type Era = '2025' | 'current';

const VERSIONS = { '2025': '2025-11-25', current: '2026-07-28' } as const;
const CLIENT = { name: 'raw', version: '0' };

export interface RpcAnswer {
  /** Of HTTP. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the method it names.
  readonly result?: any;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
  /** Where it is no answer of JSON-RPC. */
  readonly problem?: unknown;
}

export interface RawMcp {
  readonly era: Era;
  readonly session: string | undefined;
  send(method: string, params?: Readonly<Record<string, unknown>>): Promise<RpcAnswer>;
  /** As `send`, for an answer that goes on. */
  open(
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<RpcAnswer | { readonly events: ReadableStream<Uint8Array> }>;
}

export interface RawMcpOptions {
  readonly url: string;
  readonly era: Era;
  readonly bearer: string | undefined;
  readonly workspace?: string;
  /** Of a session that someone else opened. */
  readonly session?: string;
}

/** Sends requests as they are, in one era. In that of 2025 it opens a session, unless one is given or none is granted. */
export async function rawMcp({ url, era, bearer, workspace, session: given }: RawMcpOptions): Promise<RawMcp> {
  let session = given;
  const post = (method: string, params: Readonly<Record<string, unknown>>) => {
    const named = params['name'] ?? params['uri'];
    const current = {
      'mcp-method': method,
      ...(typeof named === 'string' && { 'mcp-name': named }),
    };
    return fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(workspace !== undefined && { 'x-workspace-id': workspace }),
        ...(method !== 'initialize' && { 'mcp-protocol-version': VERSIONS[era] }),
        ...(era === 'current' && current),
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: era === 'current' ? withMeta(params) : params }),
    });
  };
  const send: RawMcp['send'] = async (method, params = {}) => answerOf(await post(method, params));
  if (era === '2025' && session === undefined) {
    const opened = await post('initialize', {
      protocolVersion: VERSIONS[era],
      capabilities: {},
      clientInfo: CLIENT,
    });
    await opened.text();
    session = opened.headers.get('mcp-session-id') ?? undefined;
  }
  const open: RawMcp['open'] = async (method, params) => {
    const response = await post(method, params);
    const isOpen = response.headers.get('content-type')?.startsWith('text/event-stream');
    return isOpen && response.body ? { events: response.body } : answerOf(response);
  };
  return { era, session, open, send };
}

function withMeta(params: Readonly<Record<string, unknown>>) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSIONS.current,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { ...params, _meta };
}

async function answerOf(response: Response): Promise<RpcAnswer> {
  const { status } = response;
  const text = await response.text();
  const body = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  return body.jsonrpc === '2.0' ? { status, result: body.result, error: body.error } : { status, problem: body };
}
