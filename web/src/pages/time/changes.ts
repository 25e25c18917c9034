import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { route } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import type { Range } from '../../ui/range.tsx';
import type { Change } from './change.ts';

/** As many as one answer has: bursts of them become one line. */
const PAGE = 50;
const KINDS = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity'] as const;
export type ChangedKind = (typeof KINDS)[number];
export const FILTERS = ['kind', 'name', 'peer', 'actor'] as const;

export interface ChangeFilter {
  readonly kind?: ChangedKind;
  readonly name?: string;
  /** Also changes of what it reaches and who reaches it. */
  readonly peer?: string;
  readonly actor?: string;
}

/** What of the list the address asks for; a kind that there is not is none. */
export function filterOf(query: URLSearchParams): ChangeFilter {
  const kind = KINDS.find((one) => one === query.get('kind'));
  const [name, peer, actor] = (['name', 'peer', 'actor'] as const).map((field) => query.get(field)?.trim());
  return { ...(kind && { kind }), ...(name && { name }), ...(peer && { peer }), ...(actor && { actor }) };
}

interface Page {
  readonly items: readonly Change[];
  readonly next_cursor?: string;
}

/** The changes of a range, page by page; read anew where the range or the filter is another one. */
export function useChanges(range: ReadonlySignal<Range | undefined>) {
  const asked = useComputed(() => JSON.stringify({ ...range.value, ...filterOf(route.value.query) }));
  const read = (more: { cursor?: string } = {}) => {
    const query = { ...(JSON.parse(asked.value) as Range), ...more, limit: PAGE };
    return answer(api.GET('/api/v1/changes', { params: { query } }));
  };
  const first = useLoaded(
    async () => {
      workspaceId.value;
      return range.value === undefined ? undefined : await read();
    },
    { live: false },
  );
  const later = useSignal<readonly Page[]>([]);
  useSignalEffect(() => {
    asked.value;
    workspaceId.value;
    later.value = [];
  });
  const earlier = useAct();
  const next = useComputed(() => (later.value.at(-1) ?? first.value.value)?.next_cursor);
  const items = useComputed(() => [first.value.value?.items ?? [], ...later.value.map((page) => page.items)].flat());
  const loadEarlier = () =>
    earlier.act(async () => {
      const [before, cursor] = [asked.value, next.value];
      if (cursor === undefined) return;
      const page = await read({ cursor });
      if (asked.value === before) later.value = [...later.value, page];
    });
  return { first, items, next, earlier, loadEarlier };
}

/** Whether the network has changed since a range ended; asked until it has. */
export function useNewer(range: ReadonlySignal<Range | undefined>) {
  const known = useSignal<string | undefined>(undefined);
  const end = useComputed(() => range.value?.to);
  const loaded = useLoaded(async () => {
    const to = end.value;
    if (to === undefined || known.peek() === to || Date.parse(to) >= Date.now()) return;
    const from = new Date(Date.parse(to) + 1).toISOString();
    const { total } = await answer(api.GET('/api/v1/changes', { params: { query: { from, limit: 1 } } }));
    if (total > 0) known.value = to;
  });
  const isNewer = useComputed(() => {
    loaded.value;
    return end.value !== undefined && known.value === end.value;
  });
  return { read: loaded, isNewer };
}
