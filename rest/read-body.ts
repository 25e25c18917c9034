import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { MeshError } from '../core/base/errors.ts';
import { JSON_LIMITS } from '../core/base/json-text.ts';
import { originOf } from '../core/base/origin.ts';
import type { Access } from '../core/base/scope.ts';
import { BODY_POOL, BodyPool, type BodyShare } from './body-pool.ts';

/** Bytes of one request body, before and after decompression. */
export const BODY_LIMIT: number = JSON_LIMITS.bytes;
/**
 * The same where nobody has to be signed in, and for devices. The largest of these is a heartbeat of 256 reports, each at
 * the limits of its fields: 62,000 bytes.
 */
export const SMALL_BODY_LIMIT = 65_536;
const SMALL: ReadonlySet<Access> = new Set<Access>(['public', 'enrolment', 'device']);

/** Bytes that the body of a request for an operation may have. */
export function bodyLimitOf(access: Access): number {
  return SMALL.has(access) ? SMALL_BODY_LIMIT : BODY_LIMIT;
}

/** By name in `Content-Encoding`. Both run outside of the serving thread. */
const DECOMPRESSORS: Readonly<
  Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
/** The body pool of this process, for REST and MCP. */
const BODIES = new BodyPool(BODY_POOL);
const TEXT = new TextDecoder();
const UTF_8 = /^(?:utf-?8|us-ascii)$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/**
 * The text of a request body, for REST and MCP alike.
 *
 * @throws MeshError `payload_too_large`, `unsupported_media_type`, or `invalid_input` for one that was cut off
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  { takesCompressed = true, pool = BODIES } = {},
): Promise<string> {
  const { headers } = request;
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  const decompress = takesCompressed && Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined;
  if (encoding !== 'identity' && !decompress) throw unreadable(takesCompressed);
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !UTF_8.test(charset)) throw unreadable(takesCompressed);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  // Given back when the body was read, refused or cut off.
  using share = pool.open(originOf(request));
  const bytes = await readBytes(request, limit, share);
  return TEXT.decode(decompress ? await decompressed(bytes, decompress, limit) : bytes);
}

/** By events: an async iterator costs several times as much for the one chunk that most bodies are. */
function readBytes(request: IncomingMessage, limit: number, share: BodyShare): Promise<Buffer> {
  // A request that was cut off while its caller was looked up emits no event any more.
  if (request.destroyed) throw cutOff();
  return new Promise((resolve, reject) => {
    // A single buffer that grows, for thousands of tiny chunks would take far more memory than their bytes.
    let held: Buffer = Buffer.alloc(0);
    let size = 0;
    const refuse = (error: unknown) => {
      held = Buffer.alloc(0);
      request.off('data', take);
      request.pause();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      const needed = size + chunk.length;
      if (needed > limit) {
        refuse(tooLarge(limit));
        return;
      }
      try {
        if (needed > held.length) held = grown(held, size, needed, share);
      } catch (error) {
        refuse(error);
        return;
      }
      chunk.copy(held, size);
      size = needed;
    };
    request.on('data', take);
    request.once('end', () => resolve(held.subarray(0, size)));
    request.once('error', () => reject(cutOff()));
    request.once('close', () => {
      // An error has its price, and each request that was read ends with this event.
      if (!request.readableEnded) reject(cutOff());
    });
  });
}

/** A buffer for so many bytes, with the first ones of another. @throws MeshError where the pool has no room */
function grown(held: Buffer, size: number, needed: number, share: BodyShare): Buffer {
  const doubled = Math.max(needed, held.length * 2);
  // A small body takes nothing out of the pool.
  const length = needed <= BODY_POOL.free ? Math.min(doubled, BODY_POOL.free) : doubled;
  share.growTo(length);
  const larger = Buffer.allocUnsafeSlow(length);
  held.copy(larger, 0, 0, size);
  return larger;
}

async function decompressed(bytes: Buffer, decompress: (typeof DECOMPRESSORS)[string], limit: number): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: limit });
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : cutOff();
  }
}

function tooLarge(limit: number): MeshError {
  return new MeshError('payload_too_large', `Send at most ${limit} bytes in this request, decompressed.`);
}

function cutOff(): MeshError {
  return new MeshError('invalid_input', 'The body is malformed or was cut off: send it again as a whole.');
}

function unreadable(takesCompressed: boolean): MeshError {
  const how = takesCompressed ? 'plain or compressed by gzip, deflate or br' : 'uncompressed';
  return new MeshError('unsupported_media_type', `Send the body in UTF-8, ${how}.`);
}
