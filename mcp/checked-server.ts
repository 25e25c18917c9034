import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  type SpecTypeName,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { lineText } from '../core/base/as-data.ts';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { newId } from '../core/base/ids.ts';
import { jsonPointer } from '../core/base/json-pointer.ts';
import type { Log } from '../core/base/ports.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { failure } from './tools.ts';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** Requests that carry parameters of their own, with what the protocol says of them. */
const SCHEMAS: Readonly<Record<string, SpecTypeName>> = {
  'completion/complete': 'CompleteRequest',
  initialize: 'InitializeRequest',
  'logging/setLevel': 'SetLevelRequest',
  'prompts/get': 'GetPromptRequest',
  'prompts/list': 'ListPromptsRequest',
  'resources/list': 'ListResourcesRequest',
  'resources/read': 'ReadResourceRequest',
  'resources/subscribe': 'SubscribeRequest',
  'resources/templates/list': 'ListResourceTemplatesRequest',
  'resources/unsubscribe': 'UnsubscribeRequest',
  'tools/call': 'CallToolRequest',
  'tools/list': 'ListToolsRequest',
};

/**
 * A server that says in one sentence what is wrong with a request, where the SDK sends what its validator printed, and
 * that tells nobody the message of a bug.
 */
export class CheckedServer extends Server {
  readonly #log: Log;
  readonly #isTool: (name: unknown) => boolean;

  constructor(
    { log, isTool }: { readonly log: Log; readonly isTool: (name: unknown) => boolean },
    ...options: ConstructorParameters<typeof Server>
  ) {
    super(...options);
    this.#log = log;
    this.#isTool = isTool;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const answer = super._wrapHandler(method, handler);
    return async (received, context) => {
      const request = withoutNullArguments(received);
      try {
        return await answer(request, context);
      } catch (error) {
        // The SDK validates a request before it is handled, and says so in its validator's words.
        const wrong = error instanceof MeshError ? undefined : wrongWith(request);
        if (!wrong) throw protocolErrorOf(error, method, this.#log);
        if (!wrong.isArguments || !this.#isTool(request.params?.['name'])) {
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, wrong.error.message);
        }
        return failure(toProblem(wrong.error, { requestId: newId('r') }));
      }
    };
  }
}

/** Some models send `arguments: null` for a call without arguments. */
function withoutNullArguments(request: JSONRPCRequest): JSONRPCRequest {
  if (request.params?.['arguments'] !== null) return request;
  const { arguments: _none, ...params } = request.params;
  return { ...request, params };
}

/** The first thing that is wrong. Arguments of a tool are the caller's input like their fields, no part of the protocol. */
function wrongWith({ method, params }: JSONRPCRequest): { error: MeshError; isArguments: boolean } | undefined {
  const name = SCHEMAS[method];
  const checked = name && specTypeSchemas[name]['~standard'].validate({ method, params: params ?? {} });
  const [issue] = checked?.issues ?? [];
  if (!issue) return undefined;
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  const isArguments = method === 'tools/call' && path[1] === 'arguments' && path.length === 2;
  const detail = isArguments ? 'Must be an object.' : issue.message.replace(/^Invalid input: /, '');
  const pointer = jsonPointer(path.slice(1));
  const error = new MeshError('invalid_input', lineText(`${pointer} of ${method}: ${detail}`), {
    errors: [{ pointer, detail }],
  });
  return { error, isArguments };
}

/** Returns the error for the client: a protocol error unchanged, a refusal as a sentence, and a bug without its message. */
function protocolErrorOf(error: unknown, method: string, log: Log): unknown {
  if (error instanceof ProtocolError) return error;
  const requestId = newId('r');
  const problem = toProblem(error, { requestId });
  logFailure(log, error, problem, { method });
  const code = error instanceof MeshError ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, lineText(`${problem.title}: ${problem.detail}`), { problem });
}
