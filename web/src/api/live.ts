import { effect, signal } from '@preact/signals';
import { answersSoFar } from './client.ts';
import { changed } from './load.ts';
import { type ServerEvent, serverEvents } from './server-events.ts';
import { credentialHeaders, session } from './session.ts';
import { workspaceId } from './workspace.ts';

export type LiveState = 'live' | 'connecting' | 'lost';

/** Whether changes are told as they happen. */
export const liveState = signal<LiveState>('connecting');

const RETRY_MS = 3_000;
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
  const before = answersSoFar();
  while (!signal.aborted) {
    try {
      for await (const { event, id } of eventsOf(workspace, last, signal)) {
        if (liveState.value !== 'live') {
          // What happened while nobody told it: what was answered meanwhile may be older.
          if (liveState.value === 'lost' || answersSoFar() !== before) networkChanged();
          liveState.value = 'live';
        }
        if (id) last = id;
        if (event === 'change' || event === 'reset') networkChanged();
      }
    } catch {
      // Told by the state; tried again below.
    }
    if (signal.aborted) return;
    liveState.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
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
  if (!response.ok || !response.body) throw new Error(String(response.status));
  yield { event: 'open', id: '' };
  yield* serverEvents(response.body);
}
