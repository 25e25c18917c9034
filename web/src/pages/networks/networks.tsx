import { useComputed } from '@preact/signals';
import { allPages, whole } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Network } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { goTo, linkTo, queryPart, route, setQuery } from '../../route/route.ts';
import { ListPage } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { DefaultAction, NetworkDetails } from './network-details.tsx';
import { NewNetwork } from './network-form.tsx';

const COLUMNS: readonly Column<Network>[] = [
  {
    name: 'Name',
    cell: ({ name }) => <a href={addressOf(name)}>{name}</a>,
    order: ({ name }) => name,
  },
  {
    name: 'Addresses',
    cell: ({ spec }) => <code>{spec.cidr}</code>,
    order: ({ spec }) => blockOrder(spec.cidr),
  },
  {
    name: 'Where no policy applies',
    cell: ({ spec }) => <DefaultAction action={spec.defaultAction} />,
    order: ({ spec }) => spec.defaultAction,
  },
  {
    name: 'Peers',
    cell: ({ status }) => status.peers,
    order: ({ status }) => status.peers,
    isNumber: true,
    isMinor: true,
  },
  {
    name: 'Free addresses',
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
    const at = queryPart('at');
    return whole(
      await allPages((cursor) =>
        api.GET('/api/v1/networks', {
          params: { query: { limit: 200, ...(cursor && { cursor }), ...(at && { at }) } },
        }),
      ),
    );
  });
  const rows = useComputed(() => loaded.value.value);
  const { value } = loaded.value;
  const { rest, query } = route.value;
  const [chosen] = rest;
  const mayChange = may('network:write') && !query.has('at');
  const isNew = mayChange && chosen === undefined && query.get('view') === 'new';
  const network = value?.find(({ name }) => name === chosen);
  return (
    <ListPage
      title="Networks"
      of={loaded}
      rows={rows}
      columns={COLUMNS}
      textsOf={({ name, spec }) => [name, spec.cidr, spec.defaultAction]}
      actions={
        mayChange && (
          <a class="button primary" href={linkTo('networks', [], { ...kept(), view: 'new' })}>
            New network
          </a>
        )
      }
      keyOf={({ name }) => name}
      selected={chosen}
      open={({ name }) => goTo(addressOf(name))}
      empty="No networks. Peers of one network reach each other where policies allow it."
      details={
        isNew ? (
          <NewNetwork close={() => setQuery({ view: undefined })} />
        ) : network ? (
          <NetworkDetails key={network.id} network={network} close={linkTo('networks', [], kept())} />
        ) : (
          chosen && value && <p class="notice warn break">The network {chosen} did not exist then.</p>
        )
      }
    />
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
