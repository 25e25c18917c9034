import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { MeshError } from '../core/base/errors.ts';
import { JSON_LIMITS } from '../core/base/json-text.ts';

/** Bytes of one request body, before and after decompression. */
export const BODY_LIMIT = JSON_LIMITS.bytes;

/** By name in `Content-Encoding`. Both run outside of the serving thread. */
const DECOMPRESSORS: Readonly<
  Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
const UTF_8 = /^(?:utf-?8|us-ascii)$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/**
 * The text of a request body, for REST and MCP alike.
 *
 * @throws MeshError `payload_too_large`, `unsupported_media_type`, or `invalid_input` for one that was cut off
 */
export async function readBody(request: IncomingMessage, { takesCompressed = true } = {}): Promise<string> {
  const { headers } = request;
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  const decompress = takesCompressed && Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined;
  if (encoding !== 'identity' && !decompress) throw unreadable(takesCompressed);
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !UTF_8.test(charset)) throw unreadable(takesCompressed);
  if (Number(headers['content-length'] ?? 0) > BODY_LIMIT) throw tooLarge();
  const bytes = await readBytes(request);
  return new TextDecoder().decode(decompress ? await decompressed(bytes, decompress) : bytes);
}

/** By events: an async iterator costs several times as much for the one chunk that most bodies are. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  // One that was cut off while its caller was looked up emits no event any more.
  if (request.destroyed) throw cutOff();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT) {
        request.pause();
        reject(tooLarge());
      } else {
        chunks.push(chunk);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks, size)));
    request.once('error', () => reject(cutOff()));
    request.once('close', () => {
      // An error has its price, and each request that was read ends with this event.
      if (!request.readableEnded) reject(cutOff());
    });
  });
}

async function decompressed(bytes: Buffer, decompress: (typeof DECOMPRESSORS)[string]): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: BODY_LIMIT });
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : cutOff();
  }
}

function tooLarge(): MeshError {
  return new MeshError('payload_too_large', `Send at most 1 MB (${BODY_LIMIT} bytes) in one request, decompressed.`);
}

function cutOff(): MeshError {
  return new MeshError('invalid_input', 'The body is malformed or was cut off: send it again as a whole.');
}

function unreadable(takesCompressed: boolean): MeshError {
  const how = takesCompressed ? 'plain or compressed by gzip, deflate or br' : 'uncompressed';
  return new MeshError('unsupported_media_type', `Send the body in UTF-8, ${how}.`);
}
