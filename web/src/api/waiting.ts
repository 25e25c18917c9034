import { computed, effect, signal } from '@preact/signals';
import { answer, api } from './client.ts';
import { changed } from './load.ts';
import { session } from './session.ts';
import type { Peer, Workflow } from './types.ts';
import { may, workspaceId } from './workspace.ts';

interface Waiting {
  readonly workflows: readonly Workflow[];
  readonly peers: readonly Peer[];
}

/** Changes and devices that wait for a person in the workspace; undefined until they were read. */
export const waiting = signal<Waiting | undefined>(undefined);

export const waitingCount = computed(() => (waiting.value?.workflows.length ?? 0) + (waiting.value?.peers.length ?? 0));

const MOST = 200;

/** Keeps `waiting` as it is, for the page, the side bar and Home. */
export function followWaiting(): () => void {
  let before: string | undefined;
  return effect(() => {
    const id = workspaceId.value;
    changed.value;
    if (id !== before) waiting.value = undefined;
    before = id;
    if (!id || !session.value || !may('network:read')) return undefined;
    const abort = new AbortController();
    const [query, ending] = [{ limit: MOST }, { signal: abort.signal }];
    Promise.all([
      answer(api.GET('/api/v1/workflows', { ...ending, params: { query: { ...query, status: 'pending' } } })),
      answer(api.GET('/api/v1/peers', { ...ending, params: { query: { ...query, phase: 'pending' } } })),
    ])
      .then(([workflows, peers]) => {
        if (!abort.signal.aborted) waiting.value = { workflows: workflows.items, peers: peers.items as Peer[] };
      })
      // The page that shows them tells why.
      .catch(() => undefined);
    return () => abort.abort();
  });
}
