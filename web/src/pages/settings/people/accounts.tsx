import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { User } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { goTo, linkTo, route } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ListSection } from '../../../ui/list.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import {
  AccountDetails,
  AccountState,
  INITIAL_PASSWORD_HINT,
  INSTALLATION_ROLES,
  signInOf,
} from './account-details.tsx';

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'User name',
    cell: ({ username }) => <a href={linkTo('settings', ['people', username])}>{username}</a>,
    order: ({ username }) => username,
  },
  { name: 'Display name', cell: ({ displayName }) => displayName, isMinor: true },
  { name: 'State', cell: (user) => <AccountState user={user} /> },
  { name: 'Role in the installation', cell: ({ role }) => INSTALLATION_ROLES[role], isMinor: true },
  {
    name: 'Signs in by',
    cell: (user) => <span class="break">{signInOf(user)}</span>,
    isMinor: true,
  },
  { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

/** Every account of the installation; `#/…/settings/people/<user name>` shows one. */
export function Accounts() {
  const loaded = useLoaded(() =>
    allPages<User>((cursor) =>
      api.GET('/api/v1/users', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    ),
  );
  const rows = useComputed(() => loaded.value.value);
  const { value } = loaded.value;
  const [, chosen] = route.value.rest;
  const user = value?.find(({ username }) => username === chosen);
  return (
    <ListSection
      title="Accounts"
      why="Who can sign in to this installation. An account sees nothing until it is a member of a workspace."
      of={loaded}
      rows={rows}
      columns={COLUMNS}
      textsOf={({ username, displayName }) => [username, displayName]}
      searchField="account"
      keyOf={({ username }) => username}
      selected={chosen}
      open={({ username }) => goTo(linkTo('settings', ['people', username]))}
      empty="No accounts."
    >
      {user && <AccountDetails key={user.username} user={user} />}
      {may('users:write') && <CreateAccount />}
    </ListSection>
  );
}

function CreateAccount() {
  const username = useSignal('');
  const displayName = useSignal('');
  const password = useSignal('');
  const role = useSignal<string>('user');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = {
      username: username.value.trim(),
      displayName: displayName.value,
      password: password.value,
      role: role.value as User['role'],
    };
    const isDone = await act(() =>
      write(api.POST('/api/v1/users', { body }), `${body.username} can sign in. Add them to a workspace.`),
    );
    if (isDone) for (const field of [username, displayName, password]) field.value = '';
  };
  return (
    <details>
      <summary>Create an account</summary>
      <Form problem={problem} class="panel stack narrow" method="post" onSubmit={submit}>
        <TextField label="User name" value={username} required maxLength={63} autocomplete="off" spellcheck={false} />
        <TextField label="Display name" value={displayName} autocomplete="off" />
        <TextField
          label="Initial password"
          fields={['password']}
          hint={INITIAL_PASSWORD_HINT}
          type="password"
          value={password}
          required
          autocomplete="new-password"
        />
        <SelectField
          label="Role in the installation"
          fields={['role']}
          value={role}
          options={Object.entries(INSTALLATION_ROLES)}
        />
        <p class="hint dim">Platform administrators manage all workspaces and accounts.</p>
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            Create account
          </button>
        </div>
      </Form>
    </details>
  );
}
