import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { User } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { goTo, linkTo, route, setQuery } from '../../../route/route.ts';
import { settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { type Column, matches, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { AccountDetails, AccountState } from './account-details.tsx';

const words = settings.people;

const COLUMNS: readonly Column<User>[] = [
  {
    name: words.name,
    cell: ({ username }) => <a href={linkTo('settings', ['people', username])}>{username}</a>,
    order: ({ username }) => username,
  },
  { name: words.display, cell: ({ displayName }) => displayName, isMinor: true },
  { name: words.state, cell: (user) => <AccountState user={user} /> },
  { name: words.installationRole, cell: ({ role }) => words.roles[role], isMinor: true },
  {
    name: words.factor,
    cell: ({ secondFactor }) => (secondFactor ? texts.common.yes : texts.common.no),
    isMinor: true,
  },
  { name: words.created, cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

/** Every account of the installation; `#/…/settings/people/<user name>` shows one. */
export function Accounts() {
  const loaded = useLoaded(() =>
    allPages<User>((cursor) =>
      api.GET('/api/v1/users', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    ),
  );
  const rows = useComputed(() => {
    const search = route.value.query.get('account') ?? '';
    return (loaded.value.value ?? []).filter(({ username, displayName }) => matches(search, [username, displayName]));
  });
  const { value } = loaded.value;
  const [, chosen] = route.value.rest;
  const user = value?.find(({ username }) => username === chosen);
  return (
    <section class="stack">
      <h2>{words.accounts}</h2>
      <p class="dim">{words.accountsWhy}</p>
      <div class="row">
        <input
          type="search"
          aria-label={words.searchAccounts}
          placeholder={texts.common.search}
          value={route.value.query.get('account') ?? ''}
          onInput={({ currentTarget }) => setQuery({ account: currentTarget.value })}
        />
      </div>
      {user && <AccountDetails key={user.username} user={user} />}
      <Table
        read={loaded.value}
        label={words.accounts}
        isPart
        columns={COLUMNS}
        rows={rows}
        keyOf={({ username }) => username}
        selected={chosen}
        open={({ username }) => goTo(linkTo('settings', ['people', username]))}
        empty={<Empty>{value?.length === 0 ? words.noAccounts : texts.common.noMatch}</Empty>}
      />
      {may('users:write') && <CreateAccount />}
    </section>
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
    const isDone = await act(() => write(api.POST('/api/v1/users', { body }), words.createdOne(body.username)));
    if (isDone) for (const field of [username, displayName, password]) field.value = '';
  };
  return (
    <details>
      <summary>{words.create}</summary>
      <form class="panel stack narrow" method="post" onSubmit={submit}>
        <TextField label={words.name} value={username} required maxLength={63} autocomplete="off" spellcheck={false} />
        <TextField label={words.display} value={displayName} autocomplete="off" />
        <TextField
          label={words.initial}
          hint={words.initialHint}
          type="password"
          value={password}
          required
          autocomplete="new-password"
        />
        <SelectField label={words.installationRole} value={role} options={Object.entries(words.roles)} />
        <p class="hint dim">{words.roleHint}</p>
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            {words.createAct}
          </button>
        </div>
      </form>
    </details>
  );
}
