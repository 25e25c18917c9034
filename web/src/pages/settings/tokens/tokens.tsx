import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { scopeWords } from '../../../api/scopes.ts';
import type { ApiToken } from '../../../api/types.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { ListSection } from '../../../ui/list.tsx';
import { Secret } from '../../../ui/secret.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { MakeToken } from './make-token.tsx';

/** API tokens of the person in this workspace. The secret of a new one is shown once. */
export function Tokens() {
  const loaded = useLoaded(() => {
    const header = { 'X-Workspace-Id': workspaceId.value ?? '' };
    return allPages<ApiToken>((cursor) =>
      api.GET('/api/v1/users/me/api-tokens', { params: { header, query: { limit: 200, ...(cursor && { cursor }) } } }),
    );
  });
  const revoked = useSignal<ApiToken | undefined>(undefined);
  const made = useSignal<{ readonly name: string; readonly token: string } | undefined>(undefined);
  const rows = useComputed(() => loaded.value.value);
  const columns: readonly Column<ApiToken>[] = [
    { name: 'Name', cell: ({ name }) => name, order: ({ name }) => name },
    {
      name: 'Permissions',
      cell: ({ scopes }) => <span title={scopeWords(scopes)}>{scopeWords(scopes)}</span>,
      isMinor: true,
    },
    { name: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} />, order: ({ expiresAt }) => expiresAt },
    {
      name: 'Created',
      cell: ({ createdAt }) => <Time at={createdAt} />,
      order: ({ createdAt }) => createdAt,
      isMinor: true,
    },
    {
      name: 'Actions',
      cell: (token) => (
        <button type="button" class="link" onClick={() => (revoked.value = token)}>
          Revoke <span class="visually-hidden">{token.name}</span>
        </button>
      ),
    },
  ];
  return (
    <ListSection
      title="API tokens"
      why="For programs and MCP clients in this workspace. A token has no more rights than you, never approves, and ends with your membership."
      of={loaded}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      empty="No API tokens. Create one for a script, or connect an agent."
    >
      <MakeToken done={(token) => (made.value = token)} />
      {made.value && (
        <Dialog title={`Token ${made.value.name}`} close={() => (made.value = undefined)}>
          <Secret label="Token" text={made.value.token} />
          <div class="row">
            <button type="button" onClick={() => (made.value = undefined)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
      {revoked.value && <Revoke token={revoked.value} close={() => (revoked.value = undefined)} />}
    </ListSection>
  );
}

function Revoke({ token: { id, name }, close }: { token: ApiToken; close: () => void }) {
  const header = { 'X-Workspace-Id': workspaceId.value ?? '' };
  const params = { path: { id }, header };
  const run = () => write(api.DELETE('/api/v1/users/me/api-tokens/{id}', { params }), `${name} is revoked.`);
  return (
    <Confirm title={`Revoke ${name}?`} act="Revoke" run={run} close={close}>
      <p>Programs that use it lose access at once.</p>
    </Confirm>
  );
}
