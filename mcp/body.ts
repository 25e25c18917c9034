import type { IncomingMessage } from 'node:http';
import { MeshError } from '../core/base/errors.ts';

/** Bytes of one message. */
const MESSAGE_LIMIT = 1_048_576;

/** The JSON of a request's body. @throws MeshError `payload_too_large`, `unsupported_media_type` or `invalid_input`. */
export async function readMessage(request: IncomingMessage): Promise<unknown> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new MeshError('unsupported_media_type', 'Send the message uncompressed.');
  }
  if (Number(request.headers['content-length'] ?? 0) > MESSAGE_LIMIT) throw tooLarge();
  const bytes = await readBytes(request);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new MeshError('invalid_input', 'Parse error: the message is not well-formed JSON.');
  }
}

/** By events: an async iterator costs several times as much for the one chunk that a message is. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MESSAGE_LIMIT) {
        request.pause();
        reject(tooLarge());
      } else {
        chunks.push(chunk);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks, size)));
    request.once('error', reject);
    request.once('close', () => {
      // An error has its price, and each request that was read ends with this event.
      if (!request.readableEnded) reject(new MeshError('invalid_input', 'The message was cut off.'));
    });
  });
}

function tooLarge(): MeshError {
  return new MeshError('payload_too_large', 'Send at most 1 MB in one message.');
}
