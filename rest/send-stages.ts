import type { Response } from 'express';
import type { Problem } from '../core/base/errors.ts';
import { eventText, keepAlive, STREAM_HEADERS, writeTo } from './sse.ts';

interface Stages {
  /** Raw name, value pairs. */
  readonly headers: readonly string[];
  readonly signal: AbortSignal;
  readonly problemOf: (thrown: unknown) => Problem;
}

/**
 * Sends what an operation tells of its stages as events, then its answer or its problem. What is refused before the first
 * stage is thrown, so that it is answered as always.
 *
 * @returns what it was refused with after that
 */
export async function sendStages(
  response: Response,
  run: (onStage: (text: string) => void) => Promise<unknown>,
  { headers, signal, problemOf }: Stages,
): Promise<unknown> {
  let count = 0;
  let stopBeating = () => {};
  const event = (name: string, data: unknown) => eventText({ id: String(++count), event: name, data });
  const open = () => {
    if (response.headersSent) return;
    response.writeHead(200, [...headers, ...STREAM_HEADERS]);
    stopBeating = keepAlive(response);
  };
  const onStage = (text: string) => {
    if (signal.aborted) return;
    open();
    response.write(event('stage', { text }));
  };
  try {
    const answer = await run(onStage);
    open();
    await writeTo(response, event('answer', answer), signal);
    response.end();
    return undefined;
  } catch (thrown) {
    if (signal.aborted) {
      response.destroy();
      return undefined;
    }
    if (!response.headersSent) throw thrown;
    response.end(event('problem', problemOf(thrown)));
    return thrown;
  } finally {
    stopBeating();
  }
}
