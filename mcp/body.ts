import type { IncomingMessage } from 'node:http';
import { MeshError } from '../core/base/errors.ts';
import { parseJson } from '../core/base/json-text.ts';
import { BODY_LIMIT, readBody } from '../rest/read-body.ts';

/** The JSON of a request's body. @throws MeshError as `readBody` and `parseJson` do, with a SyntaxError as its cause */
export async function readMessage(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, BODY_LIMIT, { takesCompressed: false });
  try {
    return parseJson(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new MeshError('invalid_input', 'Parse error: the message is not well-formed JSON.', {}, { cause });
  }
}

const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;

/** The JSON-RPC code of a message that could not be read. */
export function codeOfUnread({ cause }: MeshError): number {
  return cause instanceof SyntaxError ? PARSE_ERROR : INVALID_REQUEST;
}
