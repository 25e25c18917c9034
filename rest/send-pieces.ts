import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A client that takes nothing for so long is let go, ms: it would hold a connection for ever. */
const STALLED_MS = 60_000;

/**
 * Sends text as it is made, never faster than it is taken. What fails before the first piece is thrown while the answer can
 * still be a problem; later, the connection is cut, so that no client takes the part for the whole.
 *
 * @returns what cut it, if anything did
 */
export async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterator<string>,
  status: number,
  headers: readonly string[],
): Promise<unknown> {
  const first = await pieces.next();
  response.writeHead(status, [...headers]);
  if (response.req.method === 'HEAD') {
    response.end();
    return undefined;
  }
  response.setTimeout(STALLED_MS, () => response.destroy());
  try {
    await pipeline(Readable.from(allOf(first, pieces)), response);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function* allOf(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string> {
  for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value;
}
