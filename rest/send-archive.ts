import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ZipArchive } from 'archiver';
import type { Archive } from '../core/evidence/archive.ts';

export interface ArchiveLimits {
  /** A client that takes nothing for so long is let go, ms. */
  readonly stalledMs: number;
  /** However steadily it is taken, it ends after this, ms. */
  readonly wholeMs: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = { stalledMs: 60_000, wholeMs: 30 * 60_000 };

const LEVEL = 6;
const MODE = 0o644;
/** Compressed bytes that wait for the client, and text that waits to be compressed. */
const WAITING_BYTES = 64 * 1024;

/**
 * Sends a ZIP as it is made, never faster than it is taken. The answer has begun by then: whatever fails cuts the connection
 * before the central directory, so that no part is taken for the whole.
 *
 * @throws what cut it
 */
export async function sendArchive(
  response: ServerResponse,
  { files, at }: Pick<Archive, 'files' | 'at'>,
  signal: AbortSignal,
  { stalledMs, wholeMs }: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<void> {
  const { ZipArchive } = await import('archiver');
  const zip = new ZipArchive({ zlib: { level: LEVEL }, highWaterMark: WAITING_BYTES });
  response.setTimeout(stalledMs, () => response.destroy());
  const until = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)]);
  const sent = pipeline(zip, response, { signal: until });
  /** Ends each wait on the archive where nobody takes it any more. */
  const cut = sent.then(() => undefined);
  cut.catch(() => {});
  try {
    for await (const { path, pieces } of files) {
      const source = Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
      try {
        await Promise.race([append(zip, source, path, at), cut]);
      } finally {
        source.destroy();
      }
    }
    await Promise.race([zip.finalize(), cut]);
  } catch (error) {
    zip.destroy(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
    await sent.catch(() => {});
    throw error;
  }
  await sent;
}

/** Errors of a source are not told by the archive. */
async function append(zip: ZipArchive, source: Readable, name: string, at: number): Promise<void> {
  const failed = new Promise<never>((_resolve, reject) => {
    source.once('error', reject);
  });
  const written = once(zip, 'entry');
  zip.append(source, { name, date: new Date(at), mode: MODE });
  await Promise.race([written, failed]);
}
