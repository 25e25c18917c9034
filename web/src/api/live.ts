import { effect, signal } from '@preact/signals';
import { answersSoFar } from './client.ts';
import { changed, reconnected } from './load.ts';
import { type ServerEvent, serverEvents } from './server-events.ts';
import { credentialHeaders, session } from './session.ts';
import { workspaceId } from './workspace.ts';

export type LiveState = 'live' | 'connecting' | 'lost';

/** Whether changes are told as they happen. */
export const liveState = signal<LiveState>('connecting');

/** Since when they are not, ms; undefined unless the connection is lost. */
export const lostSince = signal<number | undefined>(undefined);

const RETRY_MS = 2_000;
/** After a stream that the control plane itself ended, such as one that it could not check for a moment. */
const REOPEN_MS = 250;
/** For the control plane to accept the stream. */
const CONNECT_MS = 10_000;
/** More than two of the comments by which the control plane keeps the stream alive (`rest/sse.ts`). */
const SILENT_MS = 40_000;
/** Changes that come together are read once. */
const GATHER_MS = 150;

let isGathering = false;

function networkChanged(): void {
  if (isGathering) return;
  isGathering = true;
  setTimeout(() => {
    isGathering = false;
    changed.value += 1;
  }, GATHER_MS);
}

/** Follows the changes of the chosen workspace while somebody is signed in. The token goes in a header, so `fetch` reads. */
export function followChanges(): () => void {
  return effect(() => {
    const workspace = workspaceId.value;
    if (!session.value || !workspace) return undefined;
    const abort = new AbortController();
    void follow(workspace, abort.signal);
    return () => abort.abort();
  });
}

async function follow(workspace: string, signal: AbortSignal): Promise<void> {
  let last = '';
  liveState.value = 'connecting';
  lostSince.value = undefined;
  const before = answersSoFar();
  let endedAt: number | undefined;
  while (!signal.aborted) {
    const line = watchedLine(signal);
    let [isLost, pause] = [false, REOPEN_MS];
    try {
      for await (const { event, id } of eventsOf(workspace, last, line.signal)) {
        if (signal.aborted) return;
        line.heard();
        endedAt = undefined;
        if (liveState.value !== 'live') {
          // What happened while nobody told it: what was answered meanwhile may be older.
          if (liveState.value === 'lost' || answersSoFar() !== before) networkChanged();
          if (liveState.value === 'lost') reconnected.value += 1;
          liveState.value = 'live';
          lostSince.value = undefined;
        }
        if (id) last = id;
        if (event === 'change' || event === 'reset') networkChanged();
      }
    } catch (error) {
      // Who refuses was reached: no connection was lost.
      [isLost, pause] = [!(error instanceof Refusal), RETRY_MS];
    } finally {
      line.end();
    }
    if (signal.aborted) return;
    endedAt ??= line.lostAt();
    if (isLost) {
      liveState.value = 'lost';
      lostSince.value ??= endedAt;
    } else if (liveState.value === 'live') liveState.value = 'connecting';
    await pauseUntilOnline(pause, signal);
  }
}

/** The control plane answers, and opens no stream now. */
class Refusal extends Error {}

/** Cuts a stream that says nothing any more, and one of a connection that the browser has lost or replaced. */
function watchedLine(signal: AbortSignal) {
  const cut = new AbortController();
  const end = () => cut.abort();
  let heardAt = Date.now();
  let isSilent = false;
  const fall = () => {
    isSilent = true;
    end();
  };
  let timer = setTimeout(fall, CONNECT_MS);
  for (const name of ['offline', 'online']) addEventListener(name, end, { signal: cut.signal });
  return {
    signal: AbortSignal.any([signal, cut.signal]),
    heard(): void {
      clearTimeout(timer);
      heardAt = Date.now();
      timer = setTimeout(fall, SILENT_MS);
    },
    lostAt: () => (isSilent ? heardAt : Date.now()),
    end(): void {
      clearTimeout(timer);
      end();
    },
  };
}

/** Resolves after so many ms, or as soon as the browser is online again. */
function pauseUntilOnline(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const end = () => {
      clearTimeout(timer);
      done.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end, { signal: done.signal });
    signal.addEventListener('abort', end, { signal: done.signal });
  });
}

/** Server-sent events of GET /api/v1/events; the first is told as soon as the stream is open. */
async function* eventsOf(
  workspace: string,
  last: string,
  signal: AbortSignal,
): AsyncGenerator<Pick<ServerEvent, 'event' | 'id'>> {
  const response = await fetch('/api/v1/events', {
    signal,
    headers: {
      accept: 'text/event-stream',
      ...credentialHeaders(),
      'x-workspace-id': workspace,
      ...(last && { 'last-event-id': last }),
    },
  });
  if (!response.ok || !response.body) {
    // A proxy in front of a control plane that does not answer sends something else.
    const isOwn = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
    throw new (isOwn ? Refusal : Error)(String(response.status));
  }
  yield { event: 'open', id: '' };
  yield* serverEvents(response.body);
}
