import { useComputed, useSignal } from '@preact/signals';
import { readAssertions } from '../../api/assertions.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Assertion } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo, queryPart } from '../../route/route.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ListPage } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { NewTest } from './new-test.tsx';
import { portsText } from './ports-text.ts';

const TEST_SAYS = {
  reachable: (src: string, dst: string, what: string) => `${src} reaches ${dst} on ${what}`,
  unreachable: (src: string, dst: string, what: string) => `${src} never reaches ${dst} on ${what}`,
} as const;

/** What must stay true of the network, and whether it is. */
export function Tests() {
  const loaded = useLoaded(readAssertions);
  const isNew = useSignal(false);
  const leaving = useSignal<Assertion | undefined>(undefined);
  const mayChange = may('network:write') && queryPart('at') === null;
  const rows = useComputed(() => loaded.value.value);
  const columns: readonly Column<Assertion>[] = [
    { name: 'Name', cell: ({ name }) => name, order: ({ name }) => name },
    {
      name: 'Result',
      cell: ({ status: { holds, detail } }) =>
        holds ? (
          <Chip tone="ok">✓ holds</Chip>
        ) : (
          <span title={detail ?? ''}>
            <Chip tone="danger">✕ broken</Chip> {detail}
          </span>
        ),
      order: ({ status: { holds } }) => (holds ? 1 : 0),
    },
    {
      name: 'Test',
      cell: (row) => <span title={sentenceOf(row)}>{sentenceOf(row)}</span>,
      order: sentenceOf,
    },
    ...(mayChange
      ? [
          {
            name: 'Delete',
            cell: (row: Assertion) => (
              <button
                type="button"
                class="link"
                aria-label={`Delete ${row.name}`}
                onClick={() => (leaving.value = row)}
              >
                Delete
              </button>
            ),
          },
        ]
      : []),
  ];
  return (
    <ListPage
      title="Tests"
      of={loaded}
      rows={rows}
      columns={columns}
      textsOf={(row) => [row.name, sentenceOf(row)]}
      actions={
        <>
          <a class="button" href={linkTo('policies')}>
            Policies
          </a>
          {mayChange && (
            <button type="button" class="primary" onClick={() => (isNew.value = true)}>
              New test
            </button>
          )}
        </>
      }
      keyOf={({ name }) => name}
      empty="No tests yet. Name a connection that must never be open, such as laptops to the database."
    >
      <p class="dim">What must stay true. A change that would break a test is refused.</p>
      {isNew.value && <NewTest close={() => (isNew.value = false)} />}
      {leaving.value && <DeleteTest assertion={leaving.value} close={() => (leaving.value = undefined)} />}
    </ListPage>
  );
}

function sentenceOf({ spec: { src, dst, expect, protocol, port, endPort } }: Assertion): string {
  const ports = portsText([{ ...(protocol && { protocol }), ...(port && { port }), ...(endPort && { endPort }) }]);
  return TEST_SAYS[expect](src, dst, ports || 'everything');
}

function DeleteTest({ assertion: { id, name, revision }, close }: { assertion: Assertion; close: () => void }) {
  const call = () => api.DELETE('/api/v1/assertions/{id}', { params: { path: { id } }, body: { revision } });
  return (
    <Confirm
      title={`Delete the test ${name}?`}
      act="Delete"
      name={name}
      run={() => write(call(), `${name} is deleted.`)}
      close={close}
    >
      <p>Changes that it refused become possible.</p>
    </Confirm>
  );
}
