import type { IncomingMessage } from 'node:http';
import { MeshError } from '../core/base/errors.ts';
import { isObject } from '../core/base/is-object.ts';
import { parseJson } from '../core/base/json-text.ts';
import { BODY_LIMIT, readBody } from '../rest/read-body.ts';

/** The message in a request's body, in which `params: null` counts as none. @throws MeshError as `readBody` and `parseJson` do, with a SyntaxError as its cause */
export async function readMessage(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, BODY_LIMIT, { takesCompressed: false });
  try {
    return withoutNullParams(parseJson(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new MeshError('invalid_input', 'Parse error: the message is not well-formed JSON.', {}, { cause });
  }
}

/** Returns a message, or the messages of a batch, without `params: null`, which some clients send for none. */
export function withoutNullParams(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withoutNullParams);
  if (!isObject(message) || message['params'] !== null) return message;
  const { params: _none, ...rest } = message;
  return rest;
}

const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;

/** The JSON-RPC code of a message that could not be read. */
export function codeOfUnread({ cause }: MeshError): number {
  return cause instanceof SyntaxError ? PARSE_ERROR : INVALID_REQUEST;
}
