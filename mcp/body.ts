import type { IncomingMessage } from 'node:http';
import { MeshError } from '../core/errors.ts';

/** Bytes of one message (DESIGN 6). */
const MESSAGE_LIMIT = 1_048_576;

/** The JSON of a request's body. @throws MeshError `payload_too_large`, `unsupported_media_type` or `invalid_input`. */
export async function readMessage(request: IncomingMessage): Promise<unknown> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new MeshError('unsupported_media_type', 'Send the message uncompressed.');
  }
  if (Number(request.headers['content-length'] ?? 0) > MESSAGE_LIMIT) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MESSAGE_LIMIT) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new MeshError('invalid_input', 'Parse error: the message is not well-formed JSON.');
  }
}

function tooLarge(): MeshError {
  return new MeshError('payload_too_large', 'Send at most 1 MB in one message.');
}
