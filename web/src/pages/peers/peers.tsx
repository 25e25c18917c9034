import { useComputed } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { allPages, whole } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { goTo, linkTo, route } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { withAgentNames } from '../../ui/agent-names.ts';
import { labelsText } from '../../ui/labels.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { type Column, matches, SearchBox, Table } from '../../ui/table.tsx';
import { PeerDetails } from './peer-details.tsx';
import { COLUMNS as FIELD_COLUMNS, type ShownPeer } from './peer-fields.tsx';
import { PeerState } from './peer-state.tsx';

type Counts = components['schemas']['ListPathCountsResponse']['items'][number];
type Row = ShownPeer & { readonly counts?: Counts | undefined };

const COLUMNS: readonly Column<Row>[] = [
  {
    name: texts.peers.name,
    cell: ({ name }) => <a href={linkTo('peers', [name], keptQuery())}>{name}</a>,
    order: ({ name }) => name,
  },
  {
    name: texts.peers.state,
    cell: (peer) => <PeerState peer={peer} />,
    order: ({ status }) => `${status.phase}${status.online}`,
  },
  ...FIELD_COLUMNS,
  {
    name: texts.peers.path,
    cell: ({ counts, status }) => status.online && counts && <PathCounts counts={counts} />,
    order: ({ counts }) => (counts ? 1e6 * counts.failed + 1e3 * counts.relayed + counts.direct : -1),
    isMinor: true,
  },
];

export default function Peers() {
  const loaded = useLoaded(async () => {
    workspaceId.value;
    const at = route.value.query.get('at');
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
      if (route.value.query.has('at')) return new Map<string, Counts>();
      const counts = await allPages((cursor) =>
        api.GET('/api/v1/paths/peers', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
      );
      return new Map(counts.map((one) => [one.id, one]));
    },
    { live: false },
  );
  const agents = useAgentNames();
  const rows = useComputed(() => {
    const search = route.value.query.get('q') ?? '';
    const counts = counted.value.value;
    const all = (loaded.value.value ?? []).map(
      (peer): Row => ({
        ...peer,
        counts: counts?.get(peer.id),
        labelled: withAgentNames(labelsText(peer.labels), agents.value.value),
      }),
    );
    return all.filter(({ name, status, labels, labelled, platform }) =>
      matches(search, [name, status.address ?? '', status.phase, platform, labelsText(labels), labelled]),
    );
  });
  const chosen = route.value.rest[0];
  return (
    <Page
      title={texts.peers.title}
      actions={
        <>
          <SearchBox label={texts.peers.search} />
          {may('tokens:write') && (
            <a class="button" href={linkTo('join')}>
              {texts.peers.add}
            </a>
          )}
        </>
      }
    >
      <ReadResult of={agents.value} loading="" />
      <ReadResult of={counted.value} loading="" />
      <div class={`beside ${chosen ? 'chosen' : ''}`}>
        <Table
          read={loaded.value}
          label={texts.peers.title}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
          selected={chosen}
          open={({ name }) => goTo(linkTo('peers', [name], keptQuery()))}
          empty={
            <Empty>
              {route.value.query.has('q') ? texts.common.noMatch : texts.peers.empty}{' '}
              {!route.value.query.has('q') && may('tokens:write') && <a href={linkTo('join')}>{texts.peers.add}</a>}
            </Empty>
          }
        />
        {chosen && <PeerDetails key={chosen} name={chosen} />}
      </div>
    </Page>
  );
}

/** As they reach others: word, shape and colour. */
function PathCounts({ counts: { direct, relayed, failed } }: { counts: Counts }) {
  const parts = [
    [direct, 'ok', texts.peers.direct] as const,
    [relayed, 'warn', texts.peers.relayed] as const,
    [failed, 'danger', texts.peers.failed] as const,
  ].filter(([count]) => count > 0);
  if (parts.length === 0) return <span class="dim">{texts.peers.noPath}</span>;
  return (
    <>
      {parts.map(([count, tone, text]) => (
        <span key={tone} class={`tag ${tone}`}>
          {text(count)}
        </span>
      ))}
    </>
  );
}

/** Search and order stay when a row is opened. */
function keptQuery(): Record<string, string> {
  return Object.fromEntries(route.value.query);
}
