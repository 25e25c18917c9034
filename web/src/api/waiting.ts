import { computed } from '@preact/signals';
import { whole } from './all-pages.ts';
import { answer, api } from './client.ts';
import { followLoaded, type Loaded } from './load.ts';
import type { Peer, Workflow } from './types.ts';
import { may, workspaceId } from './workspace.ts';

interface Waiting {
  readonly workspace: string;
  readonly workflows: readonly Workflow[];
  readonly peers: readonly Peer[];
}

const MOST = 200;

const loaded = followLoaded(readWaiting);

/** Changes and devices that wait for a person in the workspace: for the page, the side bar and Home. */
export const waiting = computed((): Loaded<Waiting> => {
  const { value, ...rest } = loaded.value;
  const isOwn = value?.workspace === workspaceId.value;
  return isOwn ? { ...rest, value } : { ...rest, value: undefined, answeredAt: undefined };
});

export const waitingCount = computed(() => {
  const { workflows = [], peers = [] } = waiting.value.value ?? {};
  return workflows.length + peers.length;
});

async function readWaiting(signal: AbortSignal): Promise<Waiting | undefined> {
  const workspace = workspaceId.value;
  if (!workspace || !may('network:read')) return undefined;
  const query = { limit: MOST };
  const [workflows, peers] = await Promise.all([
    answer(api.GET('/api/v1/workflows', { signal, params: { query: { ...query, status: 'pending' } } })),
    answer(api.GET('/api/v1/peers', { signal, params: { query: { ...query, phase: 'pending' } } })),
  ]);
  return { workspace, workflows: workflows.items, peers: whole(peers.items) };
}
