import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { EventOptions, MeshEvent } from './api.ts';
import { MeshProblem, problemOf, unreachable } from './problem.ts';

/** More than two of the comments by which the control plane keeps a stream alive. */
const SILENT_MS = 40_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;

/** Follows GET /api/v1/events across lost connections, each time after the last event that came. */
export async function* followEvents(
  url: string,
  credentials: Headers,
  { signal = new AbortController().signal, lastEventId }: EventOptions,
): AsyncGenerator<MeshEvent> {
  let last = lastEventId;
  let isOpened = false;
  let failures = 0;
  while (!signal.aborted) {
    let retryAfterMs = 0;
    const line = watched(signal);
    try {
      const response = await opened(url, headersAfter(last, credentials), line.signal);
      // Nothing tells where a stream began whose first event has not come.
      if (isOpened && last === undefined) yield { event: 'reset', id: '' };
      isOpened = true;
      for await (const message of messagesOf(response, line.heard)) {
        failures = 0;
        if (message.event === 'end') throw endOf(message);
        const event = eventOf(message);
        if (message.id) last = message.id;
        if (event) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isOfOtherHistory(error, last)) {
        last = undefined;
        isOpened = true;
        continue;
      }
      if (error instanceof MeshProblem && !isPassing(error)) throw error;
      if (error instanceof MeshProblem) retryAfterMs = (error.retryAfter ?? 0) * 1_000;
    } finally {
      line.end();
    }
    await pause(Math.max(retryAfterMs, waitAfter(failures)), signal);
    failures += 1;
  }
}

function headersAfter(last: string | undefined, credentials: Headers): Headers {
  const headers = new Headers(credentials);
  headers.set('accept', 'text/event-stream');
  if (last) headers.set('last-event-id', last);
  return headers;
}

async function opened(url: string, headers: Headers, signal: AbortSignal): Promise<Response> {
  const address = `${url.endsWith('/') ? url.slice(0, -1) : url}/api/v1/events`;
  const response = await fetch(address, { signal, headers, cache: 'no-store' }).catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** The messages of a stream, each as soon as it is whole. */
async function* messagesOf({ body }: Response, heard: () => void): AsyncGenerator<EventSourceMessage> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      heard();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

/** Returns the event of a message; undefined for a kind that this version does not know. */
function eventOf({ event, id = '', data }: EventSourceMessage): MeshEvent | undefined {
  switch (event) {
    case 'change':
    case 'compliance.drift':
      return { event, id, data: JSON.parse(data) };
    case 'reset':
      return { event, id };
    default:
      return undefined;
  }
}

/** The last message of a stream: its token has ended or may read no more, or the control plane stops. */
function endOf({ data }: EventSourceMessage): MeshProblem {
  const { code, detail } = JSON.parse(data);
  return new MeshProblem(200, { code, detail, title: 'Stream ended' });
}

/** Says whether the same request may succeed later. */
function isPassing({ status, code }: MeshProblem): boolean {
  return status === 0 || status === 429 || status >= 500 || code === 'unavailable';
}

/** The control plane has not come to the last event yet: it was restored from a backup. */
function isOfOtherHistory(error: unknown, last: string | undefined): boolean {
  const faults = error instanceof MeshProblem ? error.errors : [];
  return last !== undefined && faults.some(({ pointer }) => pointer === '/Last-Event-ID');
}

/** Ends a connection that has been silent for too long. */
function watched(signal: AbortSignal) {
  const silent = new AbortController();
  const cut = () => silent.abort();
  let timer = setTimeout(cut, SILENT_MS);
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    heard(): void {
      clearTimeout(timer);
      timer = setTimeout(cut, SILENT_MS);
    },
    end(): void {
      clearTimeout(timer);
      cut();
    },
  };
}

/** Doubles up to {@link LONGEST_WAIT_MS}; half of it by chance, so that clients do not come back all at once. */
function waitAfter(failures: number): number {
  const most = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS);
  return most / 2 + (Math.random() * most) / 2;
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
