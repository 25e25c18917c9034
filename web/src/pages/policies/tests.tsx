import { useComputed, useSignal } from '@preact/signals';
import { readAssertions } from '../../api/assertions.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Assertion } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { policies as words } from '../../texts/policies.ts';
import { texts } from '../../texts/texts.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { type Column, matches, SearchBox, Table } from '../../ui/table.tsx';
import { NewTest } from './new-test.tsx';
import { portsText } from './ports-text.ts';

/** What must stay true of the network, and whether it is. */
export function Tests() {
  const loaded = useLoaded(readAssertions);
  const isNew = useSignal(false);
  const leaving = useSignal<Assertion | undefined>(undefined);
  const mayChange = may('network:write') && !route.value.query.has('at');
  const rows = useComputed(() => {
    const search = route.value.query.get('q') ?? '';
    const all = loaded.value.value ?? [];
    return all.filter((assertion) => matches(search, [assertion.name, sentenceOf(assertion)]));
  });
  const columns: readonly Column<Assertion>[] = [
    { name: words.name, cell: ({ name }) => name, order: ({ name }) => name },
    {
      name: words.result,
      cell: ({ status: { holds, detail } }) =>
        holds ? (
          <span class="tag ok">✓ {words.holds}</span>
        ) : (
          <span title={detail ?? ''}>
            <span class="tag danger">✕ {words.broken}</span> {detail}
          </span>
        ),
      order: ({ status: { holds } }) => (holds ? 1 : 0),
    },
    {
      name: words.test,
      cell: (row) => <span title={sentenceOf(row)}>{sentenceOf(row)}</span>,
      order: sentenceOf,
    },
    ...(mayChange
      ? [
          {
            name: words.delete,
            cell: (row: Assertion) => (
              <button
                type="button"
                class="link"
                aria-label={`${words.delete} ${row.name}`}
                onClick={() => (leaving.value = row)}
              >
                {words.delete}
              </button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Page
      title={words.tests}
      actions={
        <>
          <SearchBox label={words.tests} />
          <a class="button" href={linkTo('policies')}>
            {words.backToPolicies}
          </a>
          {mayChange && (
            <button type="button" class="primary" onClick={() => (isNew.value = true)}>
              {words.newTest}
            </button>
          )}
        </>
      }
    >
      <p class="dim">{words.testsWhy}</p>
      <Table
        read={loaded.value}
        label={words.tests}
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
        empty={<Empty>{route.value.query.has('q') ? texts.common.noMatch : words.noTests}</Empty>}
      />
      {isNew.value && <NewTest close={() => (isNew.value = false)} />}
      {leaving.value && <DeleteTest assertion={leaving.value} close={() => (leaving.value = undefined)} />}
    </Page>
  );
}

function sentenceOf({ spec: { src, dst, expect, protocol, port, endPort } }: Assertion): string {
  const ports = portsText([{ ...(protocol && { protocol }), ...(port && { port }), ...(endPort && { endPort }) }]);
  return words.testSays[expect](src, dst, ports || words.everything);
}

function DeleteTest({ assertion: { id, name, revision }, close }: { assertion: Assertion; close: () => void }) {
  const call = () => api.DELETE('/api/v1/assertions/{id}', { params: { path: { id } }, body: { revision } });
  return (
    <Confirm
      title={words.deleteTest(name)}
      act={words.delete}
      name={name}
      run={() => write(call(), words.deleted(name))}
      close={close}
    >
      <p>{words.deleteTestWhy}</p>
    </Confirm>
  );
}
