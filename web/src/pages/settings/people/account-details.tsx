import { useSignal } from '@preact/signals';
import { api } from '../../../api/client.ts';
import { session } from '../../../api/session.ts';
import type { User } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { Chip } from '../../../design/chip.tsx';
import { goTo, linkTo } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { issuerHost } from '../../../ui/issuer-host.ts';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { Time } from '../../../ui/time.tsx';

export const INSTALLATION_ROLES = { user: 'user', platform_admin: 'platform administrator' } as const;

export const INITIAL_PASSWORD_HINT = 'They choose their own at the first sign-in.';

/** Returns what lets a person in: an issuer, or a password of this installation. */
export function signInOf({ issuer, secondFactor }: User): string {
  if (issuer !== undefined) return issuerHost(issuer);
  return secondFactor ? 'password and second factor' : 'password';
}

export function AccountState({ user: { disabled, lockedUntil, passwordChangeRequired } }: { user: User }) {
  if (disabled) return <Chip tone="danger">✕ disabled</Chip>;
  if (lockedUntil) return <Chip tone="warn">▲ locked</Chip>;
  if (passwordChangeRequired) return <Chip tone="warn">○ has an initial password</Chip>;
  return <Chip tone="ok">● active</Chip>;
}

export function AccountDetails({ user }: { user: User }) {
  const { username, displayName, role, lockedUntil, createdAt } = user;
  const isOwn = username === session.value?.username;
  return (
    <article class="panel stack" aria-label={username}>
      <div class="row">
        <h3 class="break">{username}</h3>
        <AccountState user={user} />
        <a class="push" href={linkTo('settings', ['people'])}>
          Close
        </a>
      </div>
      <Facts
        facts={[
          ['Display name', displayName],
          ['Role in the installation', INSTALLATION_ROLES[role]],
          ['Signs in by', signInOf(user)],
          ['Locked until', lockedUntil && <Time at={lockedUntil} />],
          ['Created', <Time key="created" at={createdAt} />],
        ]}
      />
      {isOwn && (
        <p>
          <a href={linkTo('settings', ['account'])}>This is your own account: see My account.</a>
        </p>
      )}
      {!isOwn && may('users:write') && <Actions user={user} />}
    </article>
  );
}

type Asked = 'role' | 'disable' | 'factor' | 'delete' | undefined;

function Actions({ user: { username, role, disabled, lockedUntil, secondFactor, issuer } }: { user: User }) {
  const asked = useSignal<Asked>(undefined);
  const takesOver = useSignal(false);
  const { isActing, problem, act } = useAct();
  const own = session.value?.username;
  const params = { path: { username } };
  const path = '/api/v1/users/{username}';
  const done = `${username} is changed.`;
  const change = (body: { role?: User['role']; disabled?: boolean }) => write(api.PATCH(path, { params, body }), done);
  const other = role === 'user' ? 'platform_admin' : 'user';
  const dialogs = {
    role: {
      title: `Make ${username} a ${INSTALLATION_ROLES[other]}?`,
      why: 'Their sessions and API tokens end: they sign in again.',
      act: role === 'user' ? 'Make platform administrator' : 'Make user',
      run: () => change({ role: other }),
    },
    disable: {
      title: `Disable ${username}?`,
      why: 'Sessions, API tokens and agents end at once, requests are withdrawn, and nobody can sign in. Enabling restores the sign-in alone.',
      act: 'Disable',
      name: username,
      run: () => change({ disabled: true }),
    },
    factor: {
      title: `Reset the second factor of ${username}?`,
      why: 'For a lost second factor. Their sessions end, and the password alone signs in until they set up another.',
      act: 'Reset second factor',
      run: () => write(api.DELETE('/api/v1/users/{username}/otp', { params }), done),
    },
    delete: {
      title: `Delete the account ${username}?`,
      why: 'Deletes its memberships, sessions and tokens and withdraws its requests. The audit log keeps its history.',
      act: 'Delete',
      name: username,
      run: async () => {
        const body = takesOver.value && own ? { successor: own } : {};
        await write(api.DELETE(path, { params, body }), `${username} is deleted.`);
        goTo(linkTo('settings', ['people']));
      },
    },
  };
  const offered = [
    'role' as const,
    ...(disabled ? [] : ['disable' as const]),
    ...(secondFactor ? ['factor' as const] : []),
    'delete' as const,
  ];
  const { why, ...dialog } = asked.value ? dialogs[asked.value] : { why: '' };
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        {disabled && (
          <button type="button" disabled={isActing.value} onClick={() => act(() => change({ disabled: false }))}>
            Enable
          </button>
        )}
        {lockedUntil && (
          <button
            type="button"
            disabled={isActing.value}
            onClick={() => act(() => write(api.POST('/api/v1/users/{username}/unlock', { params }), done))}
          >
            Unlock
          </button>
        )}
        {offered.map((name) => (
          <button key={name} type="button" class={name === 'role' ? '' : 'danger'} onClick={() => (asked.value = name)}>
            {dialogs[name].act}
          </button>
        ))}
      </div>
      {issuer === undefined && <InitialPassword username={username} />}
      {'run' in dialog && (
        <Confirm key={asked.value} {...dialog} close={() => (asked.value = undefined)}>
          <p>{why}</p>
          {asked.value === 'delete' && (
            <CheckField
              label="Take over their agents where you are a member (otherwise these end)"
              fields={['successor']}
              value={takesOver}
            />
          )}
        </Confirm>
      )}
    </>
  );
}

function InitialPassword({ username }: { username: string }) {
  const password = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const call = api.PATCH('/api/v1/users/{username}', {
      params: { path: { username } },
      body: { password: password.value },
    });
    if (await act(() => write(call, `${username} is changed.`))) password.value = '';
  };
  return (
    <details>
      <summary>Set an initial password</summary>
      <Form problem={problem} class="stack narrow" method="post" onSubmit={submit}>
        <TextField
          label="Initial password"
          fields={['password']}
          hint={`${INITIAL_PASSWORD_HINT} Their sessions and API tokens end: they sign in again.`}
          type="password"
          value={password}
          required
          autocomplete="new-password"
        />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            Set password
          </button>
        </div>
      </Form>
    </details>
  );
}
