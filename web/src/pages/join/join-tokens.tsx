import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { actorText } from '../../design/actor-words.ts';
import { linkTo, route } from '../../route/route.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { labelsText } from '../../ui/labels.ts';
import { ListSection } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Token = components['schemas']['ListJoinTokensResponse']['items'][number];

/** End of a rule for workloads that has none. */
const NEVER = '9999-12-31T23:59:59.999Z';

/** The tokens that are out, and what is left of each. */
export function JoinTokens() {
  const asked = useSignal<Token | undefined>(undefined);
  const loaded = useLoaded(() => {
    workspaceId.value;
    return allPages<Token>((cursor) =>
      api.GET('/api/v1/tokens', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    );
  });
  const rows = useComputed(() => loaded.value.value);
  const { reload } = loaded.value;
  const isPast = route.value.query.has('at');
  const columns: readonly Column<Token>[] = [
    { name: 'Name', cell: (token) => <Named token={token} />, order: ({ name }) => name },
    {
      name: 'Uses left',
      cell: ({ usageLimit, usedCount }) =>
        usageLimit === 0 ? 'No limit' : `${usageLimit - usedCount} of ${usageLimit}`,
      order: ({ usageLimit, usedCount }) => (usageLimit === 0 ? Number.POSITIVE_INFINITY : usageLimit - usedCount),
      isNumber: true,
      isMinor: true,
    },
    {
      name: 'Joined',
      cell: ({ joined = [] }) => <Joined names={joined} />,
      order: ({ joined = [] }) => joined.length,
      isMinor: true,
    },
    {
      name: 'Ends',
      cell: ({ expiresAt }) => (expiresAt === NEVER ? 'Never' : <Time at={expiresAt} />),
      order: ({ expiresAt }) => expiresAt,
    },
    { name: 'Labels', cell: ({ labels }) => labelsText(labels), isMinor: true },
    { name: 'Network', cell: ({ network }) => network, isMinor: true },
    {
      name: 'Created by',
      cell: ({ createdBy }) => actorText(createdBy),
      order: ({ createdBy }) => createdBy,
      isMinor: true,
    },
    {
      name: 'Revoke',
      cell: (token) => (
        <button
          type="button"
          class="danger"
          disabled={isPast}
          aria-label={`Revoke the token ${token.name}`}
          onClick={() => {
            asked.value = token;
          }}
        >
          Revoke
        </button>
      ),
    },
  ];
  return (
    <ListSection
      title="Join tokens"
      of={loaded}
      rows={rows}
      columns={columns}
      isPart={false}
      keyOf={({ id }) => id}
      empty="No active join tokens. Create one above."
    >
      {asked.value && <Revoke token={asked.value} close={() => (asked.value = undefined)} reload={reload} />}
    </ListSection>
  );
}

/** Who may use it, where that is not whoever has it. */
function Named({ token: { name, identity } }: { token: Token }) {
  if (!identity) return <>{name}</>;
  const claims = Object.entries(identity.claims).map(([claim, pattern]) => `${claim} ${pattern}`);
  return (
    <>
      {name}{' '}
      <span class="dim" title={claims.join(', ')}>
        for workloads of {URL.parse(identity.issuer)?.host ?? identity.issuer}
      </span>
    </>
  );
}

/** Names in a row of the list. */
const NAMED = 2;

function Joined({ names }: { names: readonly string[] }) {
  const more = names.length - NAMED;
  return (
    <span title={names.join(', ')}>
      {names.slice(0, NAMED).map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <a href={linkTo('peers', [name])}>{name}</a>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}

function Revoke({ token: { id, name }, close, reload }: { token: Token; close: () => void; reload: () => void }) {
  const revoke = async () => {
    await write(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } }), `The join token ${name} is revoked.`);
    reload();
  };
  return (
    <Confirm title={`Revoke the join token ${name}?`} act="Revoke" run={revoke} close={close}>
      <p>No further device can join with it. Devices that joined with it stay.</p>
    </Confirm>
  );
}
