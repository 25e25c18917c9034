import { useComputed } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { Chip } from '../../../design/chip.tsx';
import { ListSection } from '../../../ui/list.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Credential } from '../types.ts';

const PAGE = 200;

const COLUMNS: readonly Column<Credential>[] = [
  { name: 'Type', cell: ({ type }) => type, order: ({ type }) => type },
  { name: 'Name', cell: ({ name, id }) => <span title={id}>{name}</span>, order: ({ name }) => name },
  {
    name: 'Age',
    cell: ({ age_days: age }) => (age === null ? 'unknown' : `${age} ${age === 1 ? 'day' : 'days'}`),
    order: ({ age_days: age }) => age ?? Number.POSITIVE_INFINITY,
    isNumber: true,
  },
  {
    name: 'Ends',
    cell: ({ ends }) => (ends ? <Time at={ends} /> : 'never'),
    order: ({ ends }) => ends ?? '9',
    isMinor: true,
  },
  {
    name: 'State',
    cell: ({ state }) => <Chip tone={state === 'in use' ? 'ok' : ''}>{state}</Chip>,
    order: ({ state }) => state,
    isMinor: true,
  },
  { name: 'Created by', cell: ({ made_by: by }) => by ?? '', isMinor: true },
  { name: 'Grants', cell: ({ grants }) => grants ?? '', isMinor: true },
];

/** The inventory of keys and tokens with their ages. */
export function Keys() {
  const pages = usePages<Credential, { items: Credential[] }>((cursor) => {
    workspaceId.value;
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    return answer(api.GET('/api/v1/ai/compliance/inventory', { params: { query } }));
  });
  const rows = useComputed(() => pages.value.value);
  return (
    <ListSection
      title="Keys and tokens by age"
      why="All credentials of this workspace. Secrets are never shown."
      of={pages}
      rows={rows}
      columns={COLUMNS}
      isPart={false}
      keyOf={({ type, id }) => `${type} ${id}`}
      empty="No keys or tokens yet."
    />
  );
}
