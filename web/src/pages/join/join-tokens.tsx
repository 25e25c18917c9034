import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { actorText } from '../../design/actor-words.ts';
import { linkTo, route } from '../../route/route.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { labelsText } from '../../ui/labels.ts';
import { ListSection } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ruleWords } from '../agents/words.ts';
import { serviceAccountOf } from './workload-request.ts';

type Token = components['schemas']['ListJoinTokensResponse']['items'][number];

/** End of a rule for workloads that has none. */
const NEVER = '9999-12-31T23:59:59.999Z';

/** The tokens that are out, and what is left of each; rules for workloads apart, whose tokens are no secret. */
export function JoinTokens() {
  const asked = useSignal<Token | undefined>(undefined);
  const loaded = useLoaded(() => {
    workspaceId.value;
    return allPages<Token>((cursor) =>
      api.GET('/api/v1/tokens', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    );
  });
  const rows = useComputed(() => loaded.value.value?.filter(({ identity }) => !identity));
  const rules = useComputed(() => loaded.value.value?.filter(({ identity }) => identity) ?? []);
  const { reload } = loaded.value;
  const isPast = route.value.query.has('at');
  const revoke: Column<Token> = {
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
  };
  return (
    <>
      <ListSection
        title="Join tokens"
        of={loaded}
        rows={rows}
        columns={[...TOKEN_COLUMNS, ...COLUMNS, revoke]}
        isPart={false}
        keyOf={keyOf}
        empty="No active join tokens. Create one above."
      />
      {rules.value.length > 0 && (
        <ListSection
          title="Rules for workloads"
          why="Made here or by a file. To change one, apply its document of the kind WorkloadRule."
          of={loaded}
          rows={rules}
          columns={[...RULE_COLUMNS, ...COLUMNS, revoke]}
          isPart={false}
          keyOf={keyOf}
          empty=""
        />
      )}
      {asked.value && <Revoke token={asked.value} close={() => (asked.value = undefined)} reload={reload} />}
    </>
  );
}

const keyOf = ({ id }: Token) => id;

const ENDS: Column<Token> = {
  name: 'Ends',
  cell: ({ expiresAt }) => (expiresAt === NEVER ? 'Never' : <Time at={expiresAt} />),
  order: ({ expiresAt }) => expiresAt,
};

const byName = ({ name }: Token) => name;

/** What join tokens have that are a secret. */
const TOKEN_COLUMNS: readonly Column<Token>[] = [
  { name: 'Name', cell: byName, order: byName },
  ENDS,
  {
    name: 'Uses left',
    cell: ({ usageLimit, usedCount }) => `${usageLimit - usedCount} of ${usageLimit}`,
    order: ({ usageLimit, usedCount }) => usageLimit - usedCount,
    isNumber: true,
    isMinor: true,
  },
];

/** What rules have and other join tokens have not. */
const RULE_COLUMNS: readonly Column<Token>[] = [
  {
    name: 'Name',
    cell: ({ name, token }) => (
      <>
        {name} {token && <CopyButton text={token} label="Copy token" />}
      </>
    ),
    order: byName,
  },
  { name: 'Workloads', cell: ({ identity }) => identity && <Workloads identity={identity} /> },
  { name: 'Preset', cell: (token) => <Preset token={token} />, isMinor: true },
  { ...ENDS, isMinor: true },
];

const COLUMNS: readonly Column<Token>[] = [
  {
    name: 'Joined',
    cell: ({ joined = [] }) => <Joined names={joined} />,
    order: ({ joined = [] }) => joined.length,
    isMinor: true,
  },
  {
    name: 'Labels, network',
    cell: ({ labels, network }) => [labelsText(labels), network].filter((text) => text !== '').join(', '),
    isMinor: true,
  },
  {
    name: 'Created by',
    cell: ({ createdBy }) => actorText(createdBy),
    order: ({ createdBy }) => createdBy,
    isMinor: true,
  },
];

/** Which workloads may use it, and who judges their tokens. */
function Workloads({ identity: { issuer, claims, tokenReview } }: { identity: NonNullable<Token['identity']> }) {
  const place = tokenReview === undefined ? (URL.parse(issuer)?.host ?? issuer) : `the cluster ${tokenReview}`;
  const text = `${claimsText(claims)} of ${place}`;
  return <span title={text}>{text}</span>;
}

function claimsText(claims: Readonly<Record<string, string>>): string {
  const account = serviceAccountOf(claims);
  return account === undefined ? labelsText(claims) : `service account ${account.namespace}/${account.name}`;
}

function Preset({ token: { preset, egress = [] } }: { token: Token }) {
  return <span title={egress.map(ruleWords).join('; ')}>{preset}</span>;
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
