import { once } from 'node:events';
import type { Response } from 'express';
import { jsonText } from '../core/base/as-data.ts';

/** Below the idle time of common proxies (30 s and up). */
const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing for so long is cut; it resumes by Last-Event-ID. */
const STALL_MS = 30_000;

export const STREAM_HEADERS: readonly string[] = [
  ...['Content-Type', 'text/event-stream; charset=utf-8'],
  ...['Cache-Control', 'no-store'],
  ...['X-Accel-Buffering', 'no'],
];

/**
 * Returns the text of an event. The data is one line in characters that can be seen, so nothing in it can look like another
 * event.
 */
export function eventText({
  id,
  event,
  data,
}: {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}) {
  return `id: ${id}\nevent: ${event}\ndata: ${jsonText(data)}\n\n`;
}

/** Comments that keep proxies from cutting an idle stream. */
export function keepAlive(response: Response): () => void {
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS);
  return () => clearInterval(beat);
}

/** Writes no faster than the reader takes it. @throws where the reader has gone, or takes nothing */
export async function writeTo(response: Response, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text)) return;
  await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]) });
}
