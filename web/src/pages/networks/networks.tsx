import { useComputed } from '@preact/signals';
import { allPages, whole } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Network } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { goTo, linkTo, route, setQuery } from '../../route/route.ts';
import { networks as words } from '../../texts/networks.ts';
import { texts } from '../../texts/texts.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { type Column, matches, SearchBox, Table } from '../../ui/table.tsx';
import { DefaultAction, NetworkDetails } from './network-details.tsx';
import './networks.css';
import { NewNetwork } from './network-form.tsx';

const COLUMNS: readonly Column<Network>[] = [
  {
    name: words.name,
    cell: ({ name }) => <a href={addressOf(name)}>{name}</a>,
    order: ({ name }) => name,
  },
  {
    name: words.addresses,
    cell: ({ spec }) => <code>{spec.cidr}</code>,
    order: ({ spec }) => blockOrder(spec.cidr),
  },
  {
    name: words.byDefault,
    cell: ({ spec }) => <DefaultAction action={spec.defaultAction} />,
    order: ({ spec }) => spec.defaultAction,
  },
  {
    name: words.peers,
    cell: ({ status }) => status.peers,
    order: ({ status }) => status.peers,
    isNumber: true,
    isMinor: true,
  },
  {
    name: words.free,
    cell: ({ status }) => status.available.toLocaleString('en'),
    order: ({ status }) => status.available,
    isNumber: true,
    isMinor: true,
  },
];

/** `#/…/networks`, `#/…/networks/<name>`, `#/…/networks?view=new`. */
export default function Networks() {
  const loaded = useLoaded(async () => {
    workspaceId.value;
    const at = route.value.query.get('at');
    return whole(
      await allPages((cursor) =>
        api.GET('/api/v1/networks', {
          params: { query: { limit: 200, ...(cursor && { cursor }), ...(at && { at }) } },
        }),
      ),
    );
  });
  const rows = useComputed(() => {
    const search = route.value.query.get('q') ?? '';
    const all = loaded.value.value ?? [];
    return all.filter(({ name, spec }) => matches(search, [name, spec.cidr, spec.defaultAction]));
  });
  const { value } = loaded.value;
  const { rest, query } = route.value;
  const [chosen] = rest;
  const mayChange = may('network:write') && !query.has('at');
  const isNew = mayChange && chosen === undefined && query.get('view') === 'new';
  const network = value?.find(({ name }) => name === chosen);
  return (
    <Page
      title={words.title}
      actions={
        <>
          <SearchBox label={words.search} />
          {mayChange && (
            <a class="button primary" href={linkTo('networks', [], { ...kept(), view: 'new' })}>
              {words.create}
            </a>
          )}
        </>
      }
    >
      <div class={`beside networks ${chosen || isNew ? 'chosen' : ''}`}>
        <Table
          read={loaded.value}
          label={words.title}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
          selected={chosen}
          open={({ name }) => goTo(addressOf(name))}
          empty={<Empty>{query.has('q') ? texts.common.noMatch : words.empty}</Empty>}
        />
        {isNew && <NewNetwork close={() => setQuery({ view: undefined })} />}
        {network && <NetworkDetails key={network.id} network={network} close={linkTo('networks', [], kept())} />}
        {chosen && value && !network && <p class="notice warn break">{words.notThen(chosen)}</p>}
      </div>
    </Page>
  );
}

function addressOf(name: string): string {
  return linkTo('networks', [name], kept());
}

/** Search and order stay when a row is opened. */
function kept(): Record<string, string> {
  const { view: _, ...query } = Object.fromEntries(route.value.query);
  return query;
}

/** 10.9.0.0/16 before 10.96.0.0/24. */
function blockOrder(cidr: string): string {
  return cidr
    .split(/[./]/)
    .map((part) => part.padStart(3, '0'))
    .join('.');
}
