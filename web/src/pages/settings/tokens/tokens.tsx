import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { ApiToken } from '../../../api/types.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { SCOPE_WORDS, settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { Empty } from '../../../ui/page.tsx';
import { Secret } from '../../../ui/secret.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { MakeToken } from './make-token.tsx';

const words = settings.tokens;

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
  const rows = useComputed(() => loaded.value.value ?? []);
  const columns: readonly Column<ApiToken>[] = [
    { name: words.name, cell: ({ name }) => name, order: ({ name }) => name },
    { name: words.scopes, cell: ({ scopes }) => scopeWords(scopes), isMinor: true },
    { name: words.ends, cell: ({ expiresAt }) => <Time at={expiresAt} />, order: ({ expiresAt }) => expiresAt },
    {
      name: words.made,
      cell: ({ createdAt }) => <Time at={createdAt} />,
      order: ({ createdAt }) => createdAt,
      isMinor: true,
    },
    {
      name: texts.common.actions,
      cell: (token) => (
        <button type="button" class="link" onClick={() => (revoked.value = token)}>
          {words.revoke} <span class="visually-hidden">{token.name}</span>
        </button>
      ),
    },
  ];
  return (
    <section class="stack">
      <h2>{words.title}</h2>
      <p class="dim">{words.why}</p>
      <Table
        read={loaded.value}
        label={words.title}
        isPart
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<Empty>{words.empty}</Empty>}
      />
      <MakeToken done={(token) => (made.value = token)} />
      {made.value && (
        <Dialog title={words.shown(made.value.name)} close={() => (made.value = undefined)}>
          <Secret label={words.token} text={made.value.token} />
          <div class="row">
            <button type="button" onClick={() => (made.value = undefined)}>
              {texts.common.close}
            </button>
          </div>
        </Dialog>
      )}
      {revoked.value && <Revoke token={revoked.value} close={() => (revoked.value = undefined)} />}
    </section>
  );
}

function scopeWords(scopes: readonly string[]) {
  const text = scopes.map((scope) => SCOPE_WORDS[scope] ?? scope).join(', ');
  return <span title={text}>{text}</span>;
}

function Revoke({ token: { id, name }, close }: { token: ApiToken; close: () => void }) {
  const header = { 'X-Workspace-Id': workspaceId.value ?? '' };
  const params = { path: { id }, header };
  const run = () => write(api.DELETE('/api/v1/users/me/api-tokens/{id}', { params }), words.revoked(name));
  return (
    <Confirm title={words.revokeTitle(name)} act={words.revoke} run={run} close={close}>
      <p>{words.revokeWhy}</p>
    </Confirm>
  );
}
