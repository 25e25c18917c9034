import { useComputed } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { compliance as words } from '../../../texts/compliance.ts';
import { texts } from '../../../texts/texts.ts';
import { Empty } from '../../../ui/page.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Credential } from '../types.ts';

const PAGE = 200;

const COLUMNS: readonly Column<Credential>[] = [
  { name: words.type, cell: ({ type }) => type, order: ({ type }) => type },
  { name: words.name, cell: ({ name, id }) => <span title={id}>{name}</span>, order: ({ name }) => name },
  {
    name: words.age,
    cell: ({ age_days: age }) => (age === null ? words.unknownAge : words.days(age)),
    order: ({ age_days: age }) => age ?? Number.POSITIVE_INFINITY,
    isNumber: true,
  },
  {
    name: words.ends,
    cell: ({ ends }) => (ends ? <Time at={ends} /> : words.never),
    order: ({ ends }) => ends ?? '9',
    isMinor: true,
  },
  {
    name: words.state,
    cell: ({ state }) => <span class={`tag ${state === 'in use' ? 'ok' : ''}`}>{state}</span>,
    order: ({ state }) => state,
    isMinor: true,
  },
  { name: words.by, cell: ({ made_by: by }) => by ?? '', isMinor: true },
  { name: words.grants, cell: ({ grants }) => grants ?? '', isMinor: true },
];

/** The inventory of keys and tokens with their ages. */
export function Keys() {
  const pages = usePages<Credential, { items: Credential[] }>((cursor) => {
    workspaceId.value;
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    return answer(api.GET('/api/v1/ai/compliance/inventory', { params: { query } }));
  });
  const rows = useComputed(() => pages.value.value ?? []);
  const { more } = pages.value;
  return (
    <section class="stack">
      <h2>{words.keys}</h2>
      <p class="dim">{words.keysWhy}</p>
      <Table
        read={pages.value}
        label={words.keys}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ type, id }) => `${type} ${id}`}
        empty={<Empty>{words.keysEmpty}</Empty>}
      />
      {more && (
        <div class="row">
          <button type="button" onClick={more}>
            {texts.common.more}
          </button>
        </div>
      )}
    </section>
  );
}
