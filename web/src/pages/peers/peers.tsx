import { useComputed } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { allPages, whole } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Chip } from '../../design/chip.tsx';
import { goTo, linkTo, queryPart, route } from '../../route/route.ts';
import { labelsText } from '../../ui/labels.ts';
import { ListPage } from '../../ui/list.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import type { Column } from '../../ui/table.tsx';
import { lookAmongDeleted } from './deleted-peers.ts';
import { PeerDetails } from './peer-details.tsx';
import { csvOfPeers, COLUMNS as FIELD_COLUMNS, type ShownPeer, withShownLabels } from './peer-fields.tsx';
import { PeerState } from './peer-state.tsx';

type Counts = components['schemas']['ListPathCountsResponse']['items'][number];
type Row = ShownPeer & { readonly counts?: Counts | undefined };

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Name',
    cell: ({ name }) => <a href={linkTo('peers', [name], keptQuery())}>{name}</a>,
    order: ({ name }) => name,
  },
  {
    name: 'State',
    cell: (peer) => <PeerState peer={peer} />,
    order: ({ status }) => `${status.phase}${status.online}`,
  },
  ...FIELD_COLUMNS,
  {
    name: 'Paths',
    cell: ({ counts, status }) => status.online && counts && <PathCounts counts={counts} />,
    order: ({ counts }) => (counts ? 1e6 * counts.failed + 1e3 * counts.relayed + counts.direct : -1),
    isMinor: true,
  },
];

export default function Peers() {
  const loaded = useLoaded(async () => {
    workspaceId.value;
    const at = queryPart('at');
    return whole(
      await allPages((cursor) =>
        api.GET('/api/v1/peers', {
          params: { query: { limit: 200, ...(cursor && { cursor }), ...(at && { at }) } },
        }),
      ),
    );
  });
  const counted = useLoaded(
    async () => {
      workspaceId.value;
      if (queryPart('at') !== null) return new Map<string, Counts>();
      const counts = await allPages((cursor) =>
        api.GET('/api/v1/paths/peers', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
      );
      return new Map(counts.map((one) => [one.id, one]));
    },
    { live: false },
  );
  const agents = useAgentNames();
  const rows = useComputed(() => {
    const counts = counted.value.value;
    return loaded.value.value?.map(
      (peer): Row => ({ ...withShownLabels(peer, agents.value.value), counts: counts?.get(peer.id) }),
    );
  });
  const chosen = route.value.rest[0];
  return (
    <ListPage
      title="Peers"
      of={loaded}
      rows={rows}
      columns={COLUMNS}
      textsOf={textsOf}
      csv={csvOfPeers}
      actions={
        may('tokens:write') && (
          <a class="button" href={linkTo('join')}>
            Add a device
          </a>
        )
      }
      keyOf={({ name }) => name}
      selected={chosen}
      open={({ name }) => goTo(linkTo('peers', [name], keptQuery()))}
      empty={
        <>
          No devices yet. Create a join token and run one command on a device.
          {may('tokens:write') && <a href={linkTo('join')}>Add a device</a>}
        </>
      }
      elsewhere={(search) => <DeletedPeersLink name={search.trim()} />}
      details={chosen && <PeerDetails key={chosen} name={chosen} />}
    >
      <ReadResult of={agents.value} loading="" />
      <ReadResult of={counted.value} loading="" />
    </ListPage>
  );
}

function DeletedPeersLink({ name }: { name: string }) {
  const link = lookAmongDeleted(name);
  return link ? <a href={link.href}>{link.text}</a> : null;
}

function textsOf({ name, status, labels, shownLabels, platform }: Row): readonly string[] {
  return [name, status.address ?? '', status.phase, platform, labelsText(labels), ...shownLabels];
}

/** As they reach others: word, shape and colour. */
function PathCounts({ counts: { direct, relayed, failed } }: { counts: Counts }) {
  const parts = [
    [direct, 'ok', '⇄', 'direct'] as const,
    [relayed, 'warn', '↷', 'relayed'] as const,
    [failed, 'danger', '✗', 'failed'] as const,
  ].filter(([count]) => count > 0);
  if (parts.length === 0) return <span class="dim">none</span>;
  return (
    <span class="chips">
      {parts.map(([count, tone, mark, path]) => (
        <Chip key={tone} tone={tone}>
          {mark} {count} {path}
        </Chip>
      ))}
    </span>
  );
}

/** Search and order stay when a row is opened. */
function keptQuery(): Record<string, string> {
  return Object.fromEntries(route.value.query);
}
