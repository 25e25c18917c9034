import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { route } from '../../route/route.ts';
import { join as words } from '../../texts/join.ts';
import { texts } from '../../texts/texts.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { labelsText } from '../../ui/labels.ts';
import { Empty } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Token = components['schemas']['JoinToken'];

/** The tokens that are out, and what is left of each. */
export function JoinTokens() {
  const asked = useSignal<Token | undefined>(undefined);
  const loaded = useLoaded(() => {
    workspaceId.value;
    return allPages<Token>((cursor) =>
      api.GET('/api/v1/tokens', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    );
  });
  const rows = useComputed(() => loaded.value.value ?? []);
  const { reload } = loaded.value;
  const isPast = route.value.query.has('at');
  const columns: readonly Column<Token>[] = [
    { name: words.column, cell: ({ name }) => name, order: ({ name }) => name },
    {
      name: words.usesLeft,
      cell: ({ usageLimit, usedCount }) => words.left(usageLimit - usedCount, usageLimit),
      order: ({ usageLimit, usedCount }) => usageLimit - usedCount,
      isNumber: true,
      isMinor: true,
    },
    { name: words.ends, cell: ({ expiresAt }) => <Time at={expiresAt} />, order: ({ expiresAt }) => expiresAt },
    { name: texts.peers.labels, cell: ({ labels }) => labelsText(labels), isMinor: true },
    { name: words.network, cell: ({ network }) => network, isMinor: true },
    { name: words.by, cell: ({ createdBy }) => createdBy, order: ({ createdBy }) => createdBy, isMinor: true },
    {
      name: words.revoke,
      cell: (token) => (
        <button
          type="button"
          class="danger"
          disabled={isPast}
          aria-label={words.revokeOf(token.name)}
          onClick={() => {
            asked.value = token;
          }}
        >
          {words.revoke}
        </button>
      ),
    },
  ];
  return (
    <section class="stack">
      <h2>{words.tokens}</h2>
      <Table
        read={loaded.value}
        label={words.tokens}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<Empty>{words.noTokens}</Empty>}
      />
      {asked.value && <Revoke token={asked.value} close={() => (asked.value = undefined)} reload={reload} />}
    </section>
  );
}

function Revoke({ token: { id, name }, close, reload }: { token: Token; close: () => void; reload: () => void }) {
  const revoke = async () => {
    await write(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } }), words.revoked(name));
    reload();
  };
  return (
    <Confirm title={words.revokeTitle(name)} act={words.revoke} run={revoke} close={close}>
      <p>{words.revokeWhy}</p>
    </Confirm>
  );
}
